import type { Topology, TopologyNode } from '../src/insight/status/topology.ts';

/** Where each service stands in the picture. Pure. */

export interface Box {
  readonly id: string;
  readonly x: number;
  readonly y: number;
}
export interface Band {
  readonly title: string;
  readonly x: number;
  readonly y: number;
}
export interface Line {
  readonly from: string;
  readonly to: string;
  readonly implied: boolean;
  /** SVG path. */
  readonly path: string;
}
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly box: { readonly width: number; readonly height: number };
  readonly boxes: readonly Box[];
  readonly bands: readonly Band[];
  readonly lines: readonly Line[];
}

const HEIGHT = 58;
/** Of a box: the narrowest holds the longest name of a service, and more than the widest says nothing. */
const WIDTH = { least: 120, most: 200 };
const GAP = 18;
const TITLE = 26;
/** Between two columns, for the lines. */
const ALLEY = { least: 44, usual: 60, most: 190 };
const EDGE = 12;
/** Below this the phases go downwards instead of to the right. */
const NARROW = 600;

const between = ({ least, most }: { least: number; most: number }, value: number): number =>
  Math.max(least, Math.min(most, value));

/** Words of a camel-case name: `CoreServices` is `Core services`. */
export const spoken = (name: string): string =>
  name.replace(/(?<=[a-z])([A-Z])/g, (_all, letter: string) => ` ${letter.toLowerCase()}`);

/**
 * Each service one column after the last that it waits for; with phases the columns are those of the roll-out. In a
 * column the services stand near what they wait for, so that lines cross little.
 */
export function layoutOf(topology: Topology, room: number): Layout {
  const columns = columnsOf(topology);
  const needed = 2 * EDGE + columns.length * WIDTH.least + (columns.length - 1) * ALLEY.least;
  return room < Math.max(NARROW, needed) ? downwards(topology, columns, room) : sideways(topology, columns, room);
}

interface Column {
  readonly title: string;
  readonly nodes: readonly TopologyNode[];
}

function columnsOf({ nodes, edges, phases }: Topology): readonly Column[] {
  const depth = new Map<string, number>();
  const depthOf = (id: string, seen: readonly string[]): number => {
    const known = depth.get(id);
    if (known !== undefined) return known;
    const before = edges.filter(edge => edge.to === id && !seen.includes(edge.from));
    const found = before.length === 0 ? 0 : 1 + Math.max(...before.map(edge => depthOf(edge.from, [...seen, id])));
    depth.set(id, found);
    return found;
  };
  const byPhase = nodes.length > 0 && nodes.every(node => node.phase !== undefined);
  const columns: TopologyNode[][] = [];
  const titles: string[] = [];
  for (const node of nodes) {
    const at = byPhase ? phases.indexOf(node.phase!) : depthOf(node.id, [node.id]);
    while (columns.length <= at) columns.push([]);
    columns[at]!.push(node);
    titles[at] = byPhase ? spoken(node.phase!) : '';
  }
  const placed = new Map<string, number>();
  return columns.map((column, at) => {
    const sorted = column
      .map((node, index) => {
        const before = edges
          .filter(edge => edge.to === node.id && placed.has(edge.from))
          .map(edge => placed.get(edge.from)!);
        return { node, index, near: before.length > 0 ? before.reduce((a, b) => a + b, 0) / before.length : index };
      })
      .sort((a, b) => a.near - b.near || a.index - b.index)
      .map(({ node }) => node);
    for (const [index, node] of sorted.entries()) placed.set(node.id, index);
    return { title: titles[at] ?? '', nodes: sorted };
  });
}

function sideways(topology: Topology, columns: readonly Column[], room: number): Layout {
  const tallest = Math.max(1, ...columns.map(column => column.nodes.length));
  const inside = room - 2 * EDGE;
  const alleys = Math.max(1, columns.length - 1);
  const box = { width: between(WIDTH, (inside - alleys * ALLEY.usual) / columns.length), height: HEIGHT };
  const alley = between(ALLEY, (inside - columns.length * box.width) / alleys);
  const height = EDGE + TITLE + tallest * (box.height + GAP) - GAP + EDGE;
  const boxes: Box[] = [];
  const bands: Band[] = [];
  for (const [at, { title, nodes }] of columns.entries()) {
    const x = EDGE + at * (box.width + alley);
    if (title) bands.push({ title, x, y: EDGE + 10 });
    const used = nodes.length * (box.height + GAP) - GAP;
    const top = EDGE + TITLE + (height - 2 * EDGE - TITLE - used) / 2;
    for (const [index, node] of nodes.entries()) boxes.push({ id: node.id, x, y: top + index * (box.height + GAP) });
  }
  const place = new Map(boxes.map(box => [box.id, box]));
  const lines = topology.edges.flatMap(edge => {
    const [from, to] = [place.get(edge.from), place.get(edge.to)];
    if (!from || !to) return [];
    const [x1, y1, x2, y2] = [from.x + box.width, from.y + box.height / 2, to.x, to.y + box.height / 2];
    const bend = Math.max(30, (x2 - x1) / 2);
    // Within a column the line goes out to the right and comes back.
    const path =
      from.x === to.x
        ? `M${x1} ${y1}C${x1 + 34} ${y1} ${x1 + 34} ${y2} ${x1} ${y2}`
        : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
    return [{ ...edge, path }];
  });
  return { width: room, height, box, boxes, bands, lines };
}

function downwards(topology: Topology, columns: readonly Column[], room: number): Layout {
  const width = Math.max(260, room);
  const across = Math.max(1, Math.floor((width - 2 * EDGE + 10) / (WIDTH.least + 10)));
  const box = { width: Math.min(WIDTH.most, (width - 2 * EDGE - (across - 1) * 10) / across), height: HEIGHT };
  const boxes: Box[] = [];
  const bands: Band[] = [];
  let y = EDGE;
  for (const { title, nodes } of columns) {
    if (title) bands.push({ title, x: EDGE, y: y + 10 });
    y += title ? TITLE - 6 : 0;
    for (let start = 0; start < nodes.length; start += across) {
      for (const [index, node] of nodes.slice(start, start + across).entries())
        boxes.push({ id: node.id, x: EDGE + index * (box.width + 10), y });
      y += box.height + GAP;
    }
    y += 14;
  }
  const place = new Map(boxes.map(found => [found.id, found]));
  const lines = topology.edges.flatMap(edge => {
    const [from, to] = [place.get(edge.from), place.get(edge.to)];
    if (!from || !to) return [];
    const [x1, y1, x2, y2] = [from.x + box.width / 2, from.y + box.height, to.x + box.width / 2, to.y];
    const bend = Math.max(18, (y2 - y1) / 2);
    return [{ ...edge, path: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}` }];
  });
  return { width, height: y, box, boxes, bands, lines };
}

/** The service in that direction from another, for the arrow keys. */
export function neighbour(layout: Layout, id: string, key: string): string | undefined {
  const at = layout.boxes.find(box => box.id === id);
  const sideways = key === 'ArrowLeft' || key === 'ArrowRight';
  const sign = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
  if (!at) return layout.boxes[0]?.id;
  return layout.boxes
    .flatMap(box => {
      const [along, beside] = sideways ? [box.x - at.x, box.y - at.y] : [box.y - at.y, box.x - at.x];
      return along * sign > 1 ? [{ id: box.id, distance: along * sign + 2 * Math.abs(beside) }] : [];
    })
    .sort((a, b) => a.distance - b.distance)[0]?.id;
}
