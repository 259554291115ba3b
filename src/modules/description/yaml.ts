/** Writes the description as YAML that YAML 1.1 and 1.2 parsers read alike; short values stay on one line. */
import { yieldIfLong } from '../../core/event-loop.ts';

const LINE = 1000;

/** Texts that need no quotes. Quoted: anything that could be read as another type, such as a time or `no`. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z/$][\w/$.{}-]*(?: [\w/$.(-][\w/$.()-]*)*$/i;
/** Characters that end a text within `[…]` and `{…}`. */
const FLOW_MARKS = /[{}[\],]/;

/** Yields to the event loop in between. @param document plain JSON values. */
export async function yaml(document: unknown): Promise<string> {
  const written: string[] = [];
  for (const piece of block(document, 0)) {
    written.push(piece);
    await yieldIfLong();
  }
  return `${written.join('').trimStart()}\n`;
}

/** Writes a value after its key or dash. */
function* block(value: unknown, depth: number): Generator<string> {
  const line = depth > 0 || !isParent(value) ? flow(value, LINE - depth, false) : null;
  if (line !== null) {
    yield ` ${line}`;
    return;
  }
  const indent = `\n${' '.repeat(depth)}`;
  for (const [name, part] of partsOf(value as object)) {
    yield `${indent}${Array.isArray(value) ? '-' : `${text(name, false)}:`}`;
    yield* block(part, depth + 1);
  }
}

/** Returns the value on one line; null if it does not fit. */
function flow(value: unknown, room: number, isInside = true): string | null {
  if (!isParent(value) || isEmpty(value)) return scalar(value, isInside);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let left = room;
  for (const [name, part] of partsOf(value)) {
    const line = flow(part, left);
    if (line === null) return null;
    const written = isList ? line : `${text(name, true)}: ${line}`;
    left -= written.length + 2;
    if (left < 0) return null;
    parts.push(written);
  }
  const all = parts.join(', ');
  return isList ? `[${all}]` : `{${all}}`;
}

function isParent(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Omits undefined values, as JSON does. */
function partsOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, part]) => part !== undefined);
}

function isEmpty(value: object): boolean {
  return partsOf(value).length === 0;
}

function scalar(value: unknown, isInFlow: boolean): string {
  return typeof value === 'string' ? text(value, isInFlow) : JSON.stringify(value);
}

function text(value: string, isInFlow: boolean): string {
  return PLAIN.test(value) && !(isInFlow && FLOW_MARKS.test(value)) ? value : JSON.stringify(value);
}
