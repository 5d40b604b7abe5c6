"""Campaigns: `python -m wavelift.campaign`, with the program of the dev profile."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLES, ROOT, blocks

from wavelift.campaign import CampaignError
from wavelift.campaign.__main__ import main
from wavelift.campaign.process import Host, find
from wavelift.campaign.results import Results, Row, cover, gaps, spans
from wavelift.campaign.sources import FIRST, Ranges
from wavelift.campaign.units import Fuzz, Manifest, add_digests, fill, read_template, read_tree

WAVELIFT = os.environ.get("WAVELIFT_PROGRAM") or shutil.which("wavelift")
needs_wavelift = pytest.mark.skipif(WAVELIFT is None, reason="no program `wavelift` (python/check builds it)")
#: An instruction that `--wrong` of a debug build computes wrong. What surrounds programs in launches has none of it.
WRONG = "v_xor_b32_e32"
SEEDS = (1000, 1060)


@pytest.fixture
def campaign(tmp_path, monkeypatch, capsys):
    """Runs a campaign's command in a folder of its own; gives status and report."""
    monkeypatch.chdir(tmp_path)

    def campaign(command, *options, report=True):
        own = [] if command in ("merge", "report") else ["--wavelift", WAVELIFT, "--batch", "1"]
        own += ["--json"] if command != "merge" else []
        capsys.readouterr()
        try:
            status = main([command, *own, *map(str, options)])
        except SystemExit as end:
            status = end.code
        printed = capsys.readouterr()
        return status, json.loads(printed.out) if printed.out.startswith("{") else printed.out + printed.err

    return campaign


def fuzz(*options):
    """The report of `wavelift fuzz`."""
    done = subprocess.run([WAVELIFT, "fuzz", "--json", *options], capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def serial():
    """What one process says of the seeds."""
    return fuzz("--target", "gfx906", "--seeds", f"{SEEDS[0]}..{SEEDS[1]}")


def row(first, end):
    return Row(f"{first}..{end}", "c", first, end, "", 0, {}, 0.0, "", "")


# ---- parts


def test_digests_are_added():
    assert add_digests([]) == "0" * 64
    assert add_digests(["f" * 64, "0" * 63 + "3"]) == "0" * 63 + "2"


def test_rows_that_overlap_are_counted_once():
    rows = [row(0, 10), row(5, 25), row(10, 20), row(20, 30), row(40, 50)]
    chosen = cover(rows)
    assert spans(chosen) == [(0, 30), (40, 50)]
    assert [entry.first for entry in chosen] == [0, 10, 20, 40]
    assert gaps(spans(chosen), (0, 60)) == [(30, 40), (50, 60)]
    assert cover(rows, (6, 31)) == [rows[2], rows[3]]
    # One long row is better than two short ones.
    assert cover([row(0, 10), row(1, 40), row(35, 45)]) == [row(1, 40)]


def test_batches_take_the_time_that_they_should():
    source = Ranges([(0, 100_000)], lambda first, end: Fuzz("gfx906", first, end))
    [first] = source.take(10, 2)
    assert first.range() == (0, FIRST)
    source.measured(FIRST, FIRST / 400)
    [batch] = source.take(10, 2)
    assert batch.range() == (FIRST, FIRST + 4000)
    sizes = []
    while batch := source.take(10, 2):
        begin, end = batch[0].range()
        sizes.append(end - begin)
    assert sum(sizes) == 100_000 - FIRST - 4000
    # Towards the end they are shorter, but none takes less than a second.
    assert sizes[0] == 4000 and 400 <= min(sizes) < 1000, sizes


def test_keys_depend_on_all_that_verdicts_depend_on():
    host = Host("0.1.0", "abc (release build)", "x86_64 with avx2")
    base = Fuzz("gfx906", 0, 10, ("--kind", "lines"), "--kind lines")
    others = [
        (Fuzz("gfx900", 0, 10, ("--kind", "lines"), "--kind lines"), host),
        (Fuzz("gfx906", 0, 11, ("--kind", "lines"), "--kind lines"), host),
        (Fuzz("gfx906", 0, 10), host),
        (base, Host("0.1.0", "abc (debug build)", host.cpu)),
        (base, Host("0.1.0", host.build, "x86_64 with avx512f")),
    ]
    keys = {unit.key(host) for unit, host in [(base, host), *others]}
    assert len(keys) == 6
    saxpy = read_tree(EXAMPLES / "saxpy" / "saxpy.gfx900.toml")
    assert sorted(saxpy.files) == ["saxpy.gfx900.co", "saxpy.gfx900.toml", "x.npy", "y.expected.npy", "y.npy"]
    changed = saxpy.with_entry(saxpy.files[saxpy.entry].decode().replace("2.5", "2.25"))
    keys = {Manifest("m", tree, engine).key(host) for tree in (saxpy, changed) for engine in ("jit", "diff")}
    assert len(keys) == 4


def test_files_beside_the_manifest_keep_their_places(tmp_path):
    (tmp_path / "manifests").mkdir()
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "k.co").write_bytes(b"code")
    manifest = tmp_path / "manifests" / "m.toml"
    manifest.write_text('[[dispatch]]\ncode_object = "../code/k.co"\n')
    tree = read_tree(manifest)
    assert tree.entry == "manifests/m.toml"
    assert sorted(tree.files) == ["code/k.co", "manifests/m.toml"]
    assert tree.write(tmp_path / "copy") == tmp_path / "copy" / "manifests" / "m.toml"
    assert (tmp_path / "copy" / "code" / "k.co").read_bytes() == b"code"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "is no launch manifest"),
        ("[buffers]\n", "it names no code object"),
        ('[[dispatch]]\ncode_object = "/k.co"\n', "relative to the manifest's folder"),
        ('[[dispatch]]\ncode_object = "none.co"\n', "none.co, which cannot be read"),
    ],
)
def test_bad_manifests_are_refused(tmp_path, text, message):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(CampaignError, match=message):
        read_tree(tmp_path / "m.toml")


def test_templates(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text('[[dispatch]]\ncode_object = "t.toml"\ngrid = [$COUNT] # $$\nargs = [{ u32 = $FIRST }]\n')
    tree = read_template(path, 5)
    assert fill(tree.files["t.toml"].decode(), 5, 8).endswith("grid = [3] # $\nargs = [{ u32 = 5 }]\n")
    for text, message in [("x = $LAST", "has \\$LAST"), ("x = 1$", "written as"), ("x = 1", "neither")]:
        path.write_text(text)
        with pytest.raises(CampaignError, match=message):
            read_template(path, 5)


def test_files_that_are_no_results_are_refused(tmp_path):
    plain = tmp_path / "text"
    plain.write_text("this is no database, but it is long enough to be read as one" * 10)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE x (y)")
    database.close()
    for path, message in [(plain, "cannot open"), (other, "no file of results"), (tmp_path / "none", "there is no")]:
        with pytest.raises(CampaignError, match=message):
            Results(path, create=False)


# ---- fuzzing


@needs_wavelift
def test_a_serial_campaign_gives_the_digest_of_one_process(campaign, serial):
    first, end = SEEDS
    status, report = campaign("fuzz", "--target", "gfx906", "--seeds", f"{first}..{end}")
    assert (status, report["ok"], report["complete"]) == (0, True, True)
    [entry] = report["campaigns"]
    for key in ("digest", "done", "runs", "faults", "instructions"):
        assert entry[key] == serial[key], key
    assert entry["ranges"] == [f"{first}..{end}"]
    assert report["done_now"] == end - first


@needs_wavelift
def test_a_campaign_continues_where_it_was_stopped(campaign, serial):
    first, end = SEEDS
    middle = first + 20
    status, report = campaign("fuzz", "--target", "gfx906", "--seeds", f"{first}..{middle}")
    assert (status, report["done_now"]) == (0, 20)
    status, report = campaign("fuzz", "--target", "gfx906", "--seeds", f"{first}..{end}")
    assert (status, report["done_now"]) == (0, end - middle)
    assert report["campaigns"][0]["digest"] == serial["digest"]
    status, report = campaign("fuzz", "--target", "gfx906", "--seeds", f"{first}..{end}")
    assert (status, report["done_now"]) == (0, 0)
    assert report["campaigns"][0]["digest"] == serial["digest"]


@needs_wavelift
def test_shards_and_campaigns_are_merged(campaign, serial, tmp_path):
    first, end = SEEDS
    whole = ("--target", "gfx906", "--seeds", f"{first}..{end}")
    for number in (1, 3):
        (tmp_path / f"part{number}.json").write_text(json.dumps(fuzz(*whole, "--shard", f"{number}/3")))
    seeds = f"{first + 20}..{first + 40}"
    status, _ = campaign("fuzz", "--target", "gfx906", "--seeds", seeds, "--results", "two.db")
    assert status == 0
    assert campaign("merge", "part1.json", "two.db", "part3.json", "part1.json", "-o", "all.db") == (0, "")
    status, report = campaign("report", "--results", "all.db")
    assert status == 0
    [entry] = report["campaigns"]
    assert (entry["digest"], entry["ranges"]) == (serial["digest"], [f"{first}..{end}"])
    # The campaign goes on from there.
    status, report = campaign("fuzz", *whole, "--results", "all.db")
    assert (status, report["done_now"]) == (0, 0)


@needs_wavelift
def test_different_results_of_a_unit_are_told(campaign, tmp_path):
    seeds = ("--target", "gfx906", "--seeds", "0..3")
    shard = fuzz(*seeds)
    (tmp_path / "a.json").write_text(json.dumps(shard))
    (tmp_path / "b.json").write_text(json.dumps(shard | {"digest": "0" * 64}))
    status, text = campaign("merge", "a.json", "b.json", "-o", "all.db")
    assert status == 1
    assert text == "DIFFERENT RESULTS: fuzz gfx906 0..3 of b.json and a.json\n"


@needs_wavelift
def test_a_planted_difference_comes_back_as_a_manifest(campaign, tmp_path):
    options = ("--target", "gfx906", "--seeds", "0..500", "--max-failures", "1", "--", "--wrong", WRONG)
    status, report = campaign("fuzz", *options)
    if status == 2:
        pytest.skip("a release build has no --wrong")
    assert (status, report["ok"], report["complete"]) == (1, False, False)
    [entry] = report["campaigns"]
    [failure] = entry["failures"]
    seed = failure["seed"]
    assert WRONG in failure["program"]
    # Where it stopped the rest is left.
    assert entry["done"] == seed + 1 and entry["left"][-1].endswith("..500")
    manifest = tmp_path / report["failures"] / f"gfx906-programs-{seed}.toml"
    assert f"seed {seed}" in manifest.read_text()
    shown = [WAVELIFT, "diff", str(manifest), "--wrong", WRONG]
    done = subprocess.run(shown, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert WRONG in done.stdout
    # The translator itself is right.
    assert subprocess.run(shown[:3], capture_output=True).returncode == 0
    # Results that were merged still have the files.
    assert campaign("merge", "campaign.db", "-o", "merged.db")[0] == 0
    status, report = campaign("report", "--results", "merged.db", "--failures", "again")
    assert status == 1
    again = tmp_path / "again" / manifest.name
    assert again.read_bytes() == manifest.read_bytes()
    assert sorted(path.name for path in again.parent.iterdir()) == sorted(
        path.name for path in manifest.parent.iterdir()
    )


@needs_wavelift
def test_seeds_that_crash_are_found(campaign, tmp_path):
    """A process that ends by a signal is repeated with halves of its seeds."""
    program = tmp_path / "wavelift"
    program.write_text(
        f"""#!{sys.executable}
import os, signal, sys
if "--seeds" in sys.argv:
    first, end = map(int, sys.argv[sys.argv.index("--seeds") + 1].split(".."))
    if first <= 17 < end and "--timeout" not in sys.argv:
        os.kill(os.getpid(), signal.SIGSEGV)
os.execv({WAVELIFT!r}, [{WAVELIFT!r}, *sys.argv[1:]])
"""
    )
    program.chmod(0o755)
    status, report = campaign("fuzz", "--target", "gfx906", "--seeds", "10..30", "--wavelift", program)
    assert status == 1
    [entry] = report["campaigns"]
    [failure] = entry["failures"]
    assert (failure["seed"], entry["done"]) == (17, 20)
    assert failure["differences"][0].startswith("the process ended by SIGSEGV")
    assert failure["repeat"] == "wavelift fuzz --target gfx906 --seeds 17..18"


@needs_wavelift
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "gfx1030", "--seeds", "0..2"), "unknown target"),
        (("--target", "gfx906", "--seeds", "2..2"), "the end must be greater"),
        (("--target", "gfx906", "--seeds", "2"), "such as 0..1000"),
        (("--target", "gfx906", "--seeds", "0..2", "--batch", "0.5"), "no number from 1 on"),
        (("--target", "gfx906", "--seeds", "0..2", "--", "--json"), "a campaign gives it itself"),
        (("--target", "gfx906", "--seeds", "0..2", "--", "--length", "0"), "length is 0"),
        (("--target", "gfx906", "--seeds", "0..2", "--wavelift", "/none"), "no program that can be run"),
        (("--target", "gfx906", "--seeds", "0..2", "--results", "/dev/null/x"), "cannot open"),
    ],
)
def test_wrong_use_is_refused(campaign, options, message):
    status, text = campaign("fuzz", *options)
    assert status == 2
    assert message in text


@needs_wavelift
def test_ctrl_c_keeps_what_has_ended(tmp_path):
    command = [sys.executable, "-m", "wavelift.campaign", "fuzz", "--target", "gfx906", "--seeds", "0..100000000"]
    command += ["--wavelift", WAVELIFT, "--batch", "1", "--json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Until something has ended.
    limit = time.monotonic() + 60
    while time.monotonic() < limit and not results_of(tmp_path / "campaign.db"):
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 3, errors
    report = json.loads(output)
    assert report["reasons"] == ["it was stopped by a signal"]
    assert report["campaigns"][0]["done"] == report["done_now"] > 0


def results_of(path):
    if not path.exists() or path.stat().st_size == 0:
        return []
    with Results(path) as results:
        return list(results.rows())


def workers_of(path):
    return {row.worker for row in results_of(path)}


# ---- manifests, sweeps, programs


@needs_wavelift
def test_manifests_run_on_both_engines_and_are_compared(campaign, tmp_path):
    saxpy = EXAMPLES / "saxpy"
    status, report = campaign("manifests", saxpy / "saxpy.gfx900.toml", saxpy / "saxpy.gfx803.toml")
    assert status == 0
    [entry] = report["campaigns"]
    assert (entry["done"], entry["failures"]) == (6, [])
    assert f"{saxpy / 'saxpy.gfx803.toml'} diff" in entry["units"]
    status, report = campaign("manifests", saxpy / "saxpy.gfx900.toml")
    assert (status, report["done_now"]) == (0, 0)


@needs_wavelift
def test_a_manifest_that_fails_is_named(campaign, tmp_path):
    tree = read_tree(EXAMPLES / "saxpy" / "saxpy.gfx900.toml")
    manifest = tree.with_entry(tree.files[tree.entry].decode().replace("f32 = 2.5", "f32 = 3.5")).write(tmp_path)
    status, report = campaign("manifests", manifest, "--engines", "interp,diff")
    assert status == 1
    [entry] = report["campaigns"]
    [failure] = entry["failures"]
    assert failure["unit"] == f"{manifest} interp"
    assert failure["message"].startswith("y: ")
    status, report = campaign("manifests", manifest, "--engines", "jit", "--targets", "gfx906", "--results", "other.db")
    assert status == 2
    assert report["campaigns"][0]["failures"][0]["status"] == 2


SWEEP = """
[buffers]
y = { type = "f32", count = $COUNT }
x = { type = "f32", count = $COUNT, fill = 1 }

[[dispatch]]
code_object = "saxpy.gfx900.co"
kernel = "saxpy"
grid = [$COUNT]
workgroup = [64]
args = ["@y", "@x", { f32 = 1.0 }, { u32 = $FIRST }]
"""


@needs_wavelift
def test_a_sweep_covers_its_range(campaign, tmp_path):
    shutil.copy(EXAMPLES / "saxpy" / "saxpy.gfx900.co", tmp_path)
    template = tmp_path / "sweep.toml"
    template.write_text(SWEEP)
    status, report = campaign("sweep", template, "--range", "7..1007")
    assert status == 0
    [entry] = report["campaigns"]
    assert (entry["done"], entry["ranges"], entry["left"]) == (1000, ["7..1007"], [])
    # Wrong where there are more elements than the number of the first. The smallest such part is found by halves.
    template.write_text(SWEEP + "[expect]\ny = { fill = 1 }\n")
    status, report = campaign("sweep", template, "--range", "7..40", "--engine", "interp")
    assert status == 1
    [failure] = report["campaigns"][0]["failures"]
    assert failure["differs"] == [7, 15]
    first, end = failure["differs"]
    case = tmp_path / report["failures"] / f"sweep-{first}-{end}" / "sweep.toml"
    done = subprocess.run([WAVELIFT, "run", str(case)], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr


@needs_wavelift
def test_programs_run_under_exec(campaign, tmp_path):
    if subprocess.run([WAVELIFT, "exec", "/bin/true"], capture_output=True).returncode != 0:
        pytest.skip("wavelift exec has no library here")
    listed = tmp_path / "programs.toml"
    listed.write_text(
        """
[[program]]
name = "greeting"
command = ["/bin/echo", "for", "gfx906"]
words = ["for {gpu}"]

[[program]]
name = "failure"
command = ["/bin/false"]
gpus = ["gfx803", "gfx906"]
"""
    )
    status, report = campaign("programs", listed, "--gpus", "gfx906")
    assert status == 1
    [entry] = report["campaigns"]
    assert entry["units"] == ["failure gfx906", "greeting gfx906"]
    [failure] = entry["failures"]
    assert failure["unit"] == "failure gfx906"
    assert failure["message"].startswith("exit status 1")
    listed.write_text('[[program]]\ncommand = ["/bin/echo"]\nspeed = 1\n')
    status, text = campaign("programs", listed)
    assert status == 2 and "unknown key speed" in text


# ---- Dask


@needs_wavelift
def test_a_worker_that_is_killed_changes_nothing(campaign, tmp_path):
    distributed = pytest.importorskip("distributed")
    first, end = 0, 600
    serial = fuzz("--target", "gfx906", "--seeds", f"{first}..{end}")
    killed = []
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, memory_limit=0, dashboard_address=None
    )

    def kill():
        # The first worker of which there is a result, while there is more to do.
        limit = time.monotonic() + 60
        while time.monotonic() < limit and not killed:
            done = {int(name.rpartition(":")[2]) for name in workers_of(tmp_path / "campaign.db")}
            killed.extend(done & {nanny.pid for nanny in cluster.workers.values()})
            time.sleep(0.05)
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    with cluster:
        thread.start()
        options = ("--seeds", f"{first}..{end}", "--scheduler", cluster.scheduler_address)
        status, report = campaign("fuzz", "--target", "gfx906", *options)
        thread.join()
    assert killed
    assert (status, report["complete"]) == (0, True)
    [entry] = report["campaigns"]
    assert (entry["digest"], entry["done"]) == (serial["digest"], end - first)
    workers = workers_of(tmp_path / "campaign.db")
    assert len(workers) > 1, workers


def test_without_dask_it_says_what_to_install(campaign, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    if WAVELIFT is None:
        pytest.skip("no program `wavelift`")
    status, text = campaign("fuzz", "--target", "gfx906", "--seeds", "0..2", "--local", "2")
    assert status == 2
    assert "pip install 'wavelift[campaign]'" in text


# ---- Slurm

SLURM = ["munged", "slurmctld", "slurmd", "sbatch", "sinfo"]


def tool(name):
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


@pytest.fixture
def slurm(tmp_path_factory):
    """A cluster of this host alone; gives the environment of its commands."""
    missing = [name for name in SLURM if tool(name) is None]
    if missing:
        pytest.skip(f"Slurm is not installed (Debian: slurm-wlm), {', '.join(missing)} is missing")
    # Names of sockets must be short.
    folder = Path("/tmp") / f"wavelift-slurm-{os.getpid()}"
    folder.mkdir(mode=0o755)
    processes = []

    def start(*command, **environment):
        log = (folder / f"{Path(command[0]).name}.out").open("w")
        processes.append(
            subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=os.environ | environment,
                start_new_session=True,
            )
        )  # fmt: skip

    try:
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        munge = folder / "munge.socket"
        start(
            tool("munged"), "--foreground", "--force", f"--socket={munge}", f"--key-file={key}",
            f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed",
        )  # fmt: skip
        configuration = folder / "slurm.conf"
        configuration.write_text(slurm_configuration(folder, munge))
        environment = {"SLURM_CONF": str(configuration)}
        wait_for(munge.exists, folder)
        start(tool("slurmctld"), "-D", "-i", **environment)
        start(tool("slurmd"), "-D", **environment)

        def idle():
            command = [tool("sinfo"), "--noheader", "--format=%T"]
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
            return done.stdout.strip() == "idle"

        wait_for(idle, folder)
        yield os.environ | environment
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(is_so, folder, seconds=30):
    limit = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > limit:
            logs = [f"{path.name}:\n{path.read_text(errors='replace')}" for path in sorted(folder.glob("*.out"))]
            pytest.fail("Slurm does not start:\n" + "\n".join(logs))
        time.sleep(0.2)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports


def slurm_configuration(folder, munge):
    host = socket.gethostname().split(".")[0]
    control, daemon = free_ports(2)
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    for name in ("state", "spool"):
        (folder / name).mkdir()
    return f"""
ClusterName=wavelift
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={munge}
CredType=cred/munge
SlurmctldPort={control}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@needs_wavelift
def test_shards_of_a_slurm_array_add_up(campaign, serial, slurm, tmp_path):
    first, end = SEEDS
    script = tmp_path / "shard.sh"
    script.write_text(
        "#!/bin/sh\n"
        f'exec "{WAVELIFT}" fuzz --target gfx906 --seeds {first}..{end} --shard "$SLURM_ARRAY_TASK_ID/4" --json'
        ' > "part$SLURM_ARRAY_TASK_ID.json"\n'
    )
    command = [tool("sbatch"), "--wait", "--array=1-4", "--output=shard%a.log", str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=slurm, capture_output=True, text=True, timeout=120)
    logs = [path.read_text() for path in sorted(tmp_path.glob("shard*.log"))]
    assert done.returncode == 0, (done.stdout, done.stderr, logs)
    assert campaign("merge", *(f"part{number}.json" for number in range(1, 5)), "-o", "all.db") == (0, "")
    status, report = campaign("report", "--results", "all.db")
    assert status == 0
    [entry] = report["campaigns"]
    assert (entry["digest"], entry["ranges"], entry["parts"]) == (serial["digest"], [f"{first}..{end}"], 4)


# ---- the tutorial


@needs_wavelift
def test_the_commands_of_the_tutorial(tmp_path):
    document = ROOT / "docs" / "campaigns.md"
    commands = blocks(document, "sh")
    assert len(commands) > 3
    for name in ("examples", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    # The names that the tutorial uses.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wavelift").symlink_to(WAVELIFT)
    # A link to the interpreter would not be of its virtual environment.
    interpreter = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{interpreter}:{os.environ['PATH']}"}
    for command in commands:
        shell = ["bash", "-euo", "pipefail", "-c", command]
        done = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


def test_no_program_is_an_error(monkeypatch):
    monkeypatch.setenv("PATH", "/none")
    with pytest.raises(CampaignError, match="--wavelift"):
        find(None)


# ---- shards of a dispatch


@needs_wavelift
@pytest.mark.parametrize("where", [["--serial"], ["--local", "2"]])
def test_shards_of_a_dispatch_give_its_result(campaign, tmp_path, where):
    if where != ["--serial"]:
        pytest.importorskip("distributed")
    shutil.copytree(EXAMPLES / "mandelbrot", tmp_path / "mandelbrot")
    manifest = tmp_path / "mandelbrot" / "mandelbrot.gfx906.toml"
    options = [manifest, "--shards", "5", "--changes", "changes", "--out", "out", *where]
    status, _ = campaign("shards", *options)
    assert status == 0
    names = sorted(file.name for file in Path("changes").iterdir())
    assert names == [f"{number}-of-5.changes" for number in range(1, 6)]
    # The expectation holds, as the status says.
    written = np.load("out/iterations.out.npy")
    np.testing.assert_array_equal(written, np.load(tmp_path / "mandelbrot" / "iterations.expected.npy"))
    # Only the shard that is missing is run again, and it gives the same file.
    lost = Path("changes/3-of-5.changes")
    before = lost.read_bytes()
    times = {name: os.stat(f"changes/{name}").st_mtime_ns for name in names}
    lost.unlink()
    assert campaign("shards", *options)[0] == 0
    assert lost.read_bytes() == before
    changed = [name for name in names if os.stat(f"changes/{name}").st_mtime_ns != times[name]]
    assert changed == [lost.name]


@needs_wavelift
def test_shards_that_are_not_independent_are_refused(campaign, tmp_path):
    text = (EXAMPLES / "histogram" / "histogram.gfx906.toml").read_text()
    head, first, _second = text.split("[[dispatch]]")
    shutil.copytree(EXAMPLES / "histogram", tmp_path / "histogram")
    manifest = tmp_path / "histogram" / "one.toml"
    manifest.write_text(f"{head}[[dispatch]]{first}")
    status, message = campaign("shards", manifest, "--shards", "2")
    assert status == 2
    assert "not independent" in message and "bins[0]" in message
    status, message = campaign("shards", tmp_path / "nowhere.toml", "--shards", "2", "--independent")
    assert status == 2
    assert "cannot read" in message
