/** Elements as values: a view builds what it wants to see, `morph` changes the current elements into it. */

export type Child = Node | string | number | false | undefined | null | readonly Child[];
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const SVG = 'http://www.w3.org/2000/svg';

function filled<T extends Element>(element: T, attributes: Attributes, children: readonly Child[]): T {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value));
  append(element, children);
  return element;
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === false || child === undefined || child === null || child === '') continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.append(child instanceof Node ? child : String(child));
  }
}

export const h = (tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement =>
  filled(document.createElement(tag), attributes, children);

export const s = (tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement =>
  filled(document.createElementNS(SVG, tag) as SVGElement, attributes, children);

const keyOf = (node: Node): string | undefined =>
  (node instanceof Element ? node.getAttribute('key') : null) ?? undefined;
const alike = (a: Node, b: Node): boolean =>
  a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

/** What a person changes by hand stays: whether a `details` is open, what is in a field. */
const KEPT: Readonly<Record<string, readonly string[]>> = { DETAILS: ['open'] };

/** Makes the children of `parent` equal to those of `wanted`. What is already there stays: focus, scrolling, animations. */
export function morph(parent: Element, wanted: Element | DocumentFragment): void {
  let at = parent.firstChild;
  for (const next of [...wanted.childNodes]) {
    let match: ChildNode | null = at;
    while (match && !alike(match, next)) match = match.nextSibling;
    if (!match) {
      parent.insertBefore(next, at);
      continue;
    }
    if (match !== at) parent.insertBefore(match, at);
    else at = at?.nextSibling ?? null;
    update(match, next);
  }
  while (at) {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  }
}

function update(old: Node, next: Node): void {
  if (!(old instanceof Element) || !(next instanceof Element)) {
    if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
    return;
  }
  const kept = KEPT[old.nodeName] ?? [];
  for (const { name } of [...old.attributes])
    if (!next.hasAttribute(name) && !kept.includes(name)) old.removeAttribute(name);
  for (const { name, value } of [...next.attributes])
    if (old.getAttribute(name) !== value && !kept.includes(name)) old.setAttribute(name, value);
  // A field belongs to the person who types in it.
  if (old instanceof HTMLTextAreaElement) return;
  morph(old, next);
}
