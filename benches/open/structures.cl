// The same data as an array of structures and as a structure of arrays.
typedef struct {
    float x, y, z;
    float vx, vy, vz;
    float mass;
    int bounces;
} particle;

static void bounce(float *position, float *speed, int *bounces)
{
    if (*position < 0.0f || *position > 1.0f) {
        *position = *position < 0.0f ? -*position : 2.0f - *position;
        *speed = -0.9f * *speed;
        ++*bounces;
    }
}

// Particles that fall and bounce off the walls of a box.
kernel void particles_aos(global particle *particles, float dt, int steps, int n)
{
    int id = get_global_id(0);
    if (id >= n)
        return;
    particle p = particles[id];
    for (int s = 0; s < steps; s++) {
        p.vy -= 9.81f * dt * p.mass;
        p.x += dt * p.vx;
        p.y += dt * p.vy;
        p.z += dt * p.vz;
        bounce(&p.x, &p.vx, &p.bounces);
        bounce(&p.y, &p.vy, &p.bounces);
        bounce(&p.z, &p.vz, &p.bounces);
    }
    particles[id] = p;
}

kernel void setup_particles(global particle *particles, global const float *numbers)
{
    size_t id = get_global_id(0);
    global const float *r = numbers + 7 * id;
    particle p = {r[0], r[1], r[2], r[3] - 0.5f, r[4] - 0.5f, r[5] - 0.5f, 0.5f + r[6], 0};
    particles[id] = p;
}

kernel void particles_soa(global float *x, global float *y, global float *z, global float *vx,
                          global float *vy, global float *vz, global const float *mass,
                          global int *bounces, float dt, int n)
{
    int id = get_global_id(0);
    if (id >= n)
        return;
    vy[id] -= 9.81f * dt * mass[id];
    float px = x[id] + dt * vx[id], py = y[id] + dt * vy[id], pz = z[id] + dt * vz[id];
    float ux = vx[id], uy = vy[id], uz = vz[id];
    int count = 0;
    bounce(&px, &ux, &count);
    bounce(&py, &uy, &count);
    bounce(&pz, &uz, &count);
    x[id] = px;
    y[id] = py;
    z[id] = pz;
    vx[id] = ux;
    vy[id] = uy;
    vz[id] = uz;
    bounces[id] += count;
}

typedef struct {
    ulong reference;
    uint account;
    int cents;
    short day;
    uchar kind;
    char grade;
    uint flags;
} record;

typedef struct {
    int paid, received;
    uint last;
    int worst;
} summary;

// Goes through the records of each account, which lie together.
kernel void records(global summary *summaries, global record *all, int each)
{
    size_t id = get_global_id(0);
    summary s = {0, 0, 0, 127};
    for (int i = 0; i < each; i++) {
        global record *r = &all[id * each + i];
        int cents = r->cents % 100000;
        if (r->kind == 0 || r->flags & 1)
            continue;
        if (cents < 0)
            s.paid -= cents;
        else
            s.received += cents;
        s.last = max(s.last, (uint)(r->reference >> 32));
        s.worst = min(s.worst, (int)r->grade);
        r->account = (uint)id;
        r->flags |= 1;
    }
    summaries[id] = s;
}
