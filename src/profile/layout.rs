//! Places the blocks of a control-flow graph for a picture: in layers from top to bottom, so that all
//! edges but those of loops lead down, with few crossings. Long edges have a place in each layer that
//! they pass.

/// Width and height of a block, in pixels.
pub(super) const SIZE: (f64, f64) = (148.0, 46.0);
/// Distance of the layers' tops.
const LAYER: f64 = 88.0;
/// Width of an edge in a layer that it passes.
const PASSING: f64 = 10.0;
/// Distance in a layer.
const GAP: f64 = 18.0;
/// Larger pictures are not readable.
const MAX_BLOCKS: usize = 400;
const MAX_PLACES: usize = 12_000;
/// How often layers are put in the order of their neighbours, then moved towards them.
const SWEEPS: usize = 8;

/// Where blocks and edges are.
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Left upper corners of the blocks.
    pub(super) blocks: Vec<(f64, f64)>,
    /// For each edge the points that it passes, in its direction.
    pub(super) edges: Vec<Vec<(f64, f64)>>,
}

/// A block, or an edge that passes a layer.
struct Place {
    layer: usize,
    width: f64,
    /// Its centre.
    x: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// Places blocks, the first of which is the entry, with edges between their numbers. `None` if there
/// are too many.
pub(super) fn layout(blocks: usize, edges: &[(usize, usize)]) -> Option<Layout> {
    if blocks == 0 || blocks > MAX_BLOCKS {
        return None;
    }
    let (order, back) = traverse(blocks, edges);
    let mut layer = vec![0; blocks];
    for &block in &order {
        for (edge, &(from, to)) in edges.iter().enumerate() {
            if from == block && !back[edge] {
                layer[to] = layer[to].max(layer[from] + 1);
            }
        }
    }
    let mut places: Vec<Place> = layer
        .iter()
        .map(|&layer| Place {
            layer,
            width: SIZE.0,
            x: 0.0,
            above: Vec::new(),
            below: Vec::new(),
        })
        .collect();
    let mut chains = Vec::with_capacity(edges.len());
    for (edge, &(from, to)) in edges.iter().enumerate() {
        let (high, low) = if back[edge] { (to, from) } else { (from, to) };
        let mut chain = vec![high];
        for layer in layer[high] + 1..layer[low] {
            chain.push(places.len());
            places.push(Place {
                layer,
                width: PASSING,
                x: 0.0,
                above: Vec::new(),
                below: Vec::new(),
            });
        }
        chain.push(low);
        if places.len() > MAX_PLACES {
            return None;
        }
        if high != low {
            for pair in chain.windows(2) {
                places[pair[0]].below.push(pair[1]);
                places[pair[1]].above.push(pair[0]);
            }
        }
        chains.push(chain);
    }
    let mut layers = vec![Vec::new(); layer.iter().max()? + 1];
    let rest = blocks..places.len();
    for place in order.into_iter().chain(rest) {
        layers[places[place].layer].push(place);
    }
    sort(&mut layers, &mut places);
    for sweep in 0..SWEEPS {
        spread(&layers, &mut places, sweep % 2 == 0);
    }
    Some(draw(blocks, &places, &chains, &back, layers.len()))
}

/// The blocks, each before those that it leads to, but for the edges of loops; which edges these are.
fn traverse(blocks: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<bool>) {
    let mut out = vec![Vec::new(); blocks];
    for (edge, &(from, to)) in edges.iter().enumerate() {
        out[from].push((edge, to));
    }
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; blocks];
    let mut back = vec![false; edges.len()];
    let mut done = Vec::with_capacity(blocks);
    for root in 0..blocks {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        let mut stack = vec![(root, 0)];
        while let Some((block, next)) = stack.last_mut() {
            let block = *block;
            match out[block].get(*next) {
                Some(&(edge, to)) => {
                    *next += 1;
                    match state[to] {
                        State::New => {
                            state[to] = State::Open;
                            stack.push((to, 0));
                        }
                        State::Open => back[edge] = true,
                        State::Done => {}
                    }
                }
                None => {
                    state[block] = State::Done;
                    done.push(block);
                    stack.pop();
                }
            }
        }
    }
    done.reverse();
    (done, back)
}

/// Puts each layer in the order of the average position of its neighbours.
fn sort(layers: &mut [Vec<usize>], places: &mut [Place]) {
    let number = |layer: &[usize], places: &mut [Place]| {
        for (at, &place) in layer.iter().enumerate() {
            places[place].x = at as f64;
        }
    };
    for layer in layers.iter() {
        number(layer, places);
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        for step in 0..layers.len() {
            let at = if down { step } else { layers.len() - 1 - step };
            let mut keyed: Vec<(f64, usize)> = layers[at]
                .iter()
                .map(|&place| (wanted(&places[place], places, down), place))
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            layers[at] = keyed.into_iter().map(|(_, place)| place).collect();
            number(&layers[at], places);
        }
    }
    for layer in layers.iter() {
        let mut left = 0.0;
        for &place in layer {
            places[place].x = left + places[place].width / 2.0;
            left += places[place].width + GAP;
        }
    }
}

/// The average position of the neighbours above or below; its own if there is none.
fn wanted(place: &Place, places: &[Place], down: bool) -> f64 {
    let near = if down { &place.above } else { &place.below };
    match near.len() {
        0 => place.x,
        n => near.iter().map(|&near| places[near].x).sum::<f64>() / n as f64,
    }
}

/// Moves the places of each layer towards their neighbours, as near as their order and their widths
/// permit: an isotonic regression.
fn spread(layers: &[Vec<usize>], places: &mut [Place], down: bool) {
    for step in 0..layers.len() {
        let at = if down { step } else { layers.len() - 1 - step };
        let mut offset = 0.0;
        let mut offsets = Vec::new();
        // Runs that touch each other: the sum of their wishes, and how many.
        let mut runs: Vec<(f64, usize)> = Vec::new();
        for (i, &place) in layers[at].iter().enumerate() {
            if i > 0 {
                let before = places[layers[at][i - 1]].width;
                offset += (before + places[place].width) / 2.0 + GAP;
            }
            offsets.push(offset);
            let mut run = (wanted(&places[place], places, down) - offset, 1);
            while let Some(&last) = runs.last()
                && last.0 / last.1 as f64 >= run.0 / run.1 as f64
            {
                run = (run.0 + last.0, run.1 + last.1);
                runs.pop();
            }
            runs.push(run);
        }
        let xs = runs
            .into_iter()
            .flat_map(|(sum, n)| std::iter::repeat_n(sum / n as f64, n));
        for ((&place, x), offset) in layers[at].iter().zip(xs).zip(offsets) {
            places[place].x = x + offset;
        }
    }
}

fn draw(
    blocks: usize,
    places: &[Place],
    chains: &[Vec<usize>],
    back: &[bool],
    layers: usize,
) -> Layout {
    let left = places
        .iter()
        .map(|place| place.x - place.width / 2.0)
        .fold(f64::MAX, f64::min);
    let right = places
        .iter()
        .map(|place| place.x + place.width / 2.0)
        .fold(f64::MIN, f64::max);
    let x = |place: usize| places[place].x - left + GAP;
    let top = |place: usize| places[place].layer as f64 * LAYER + GAP;
    let edges = chains.iter().zip(back).map(|(chain, &back)| {
        let (high, low) = (chain[0], chain[chain.len() - 1]);
        if high == low {
            let (side, y) = (x(high) + SIZE.0 / 2.0, top(high));
            let (out, bottom) = (side + GAP * 0.75, y + SIZE.1 * 0.75);
            let y = y + SIZE.1 * 0.25;
            return vec![(side, bottom), (out, bottom), (out, y), (side, y)];
        }
        // Loops enter beside the other edges.
        let aside = if back { SIZE.0 / 4.0 } else { 0.0 };
        let mut points = vec![(x(high) + aside, top(high) + SIZE.1)];
        for &place in &chain[1..chain.len() - 1] {
            points.push((x(place), top(place)));
            points.push((x(place), top(place) + SIZE.1));
        }
        points.push((x(low) + aside, top(low)));
        if back {
            points.reverse();
        }
        points
    });
    Layout {
        width: right - left + 3.0 * GAP,
        height: layers as f64 * LAYER - (LAYER - SIZE.1) + 2.0 * GAP,
        blocks: (0..blocks)
            .map(|block| (x(block) - SIZE.0 / 2.0, top(block)))
            .collect(),
        edges: edges.collect(),
    }
}
