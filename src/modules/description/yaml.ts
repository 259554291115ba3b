/** The description as YAML: what is short stands on one line, and every parser, of YAML 1.1 or 1.2, reads it alike. */
import { yieldIfLong } from '../../core/turn.ts';

const LINE = 1000;

/** Anything that could be read as another type, such as a time or `no`, is quoted. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z/$][\w/$.{}-]*(?: [\w/$.(-][\w/$.()-]*)*$/i;
/** In `[…]` and `{…}` these end a text. */
const FLOW_MARKS = /[{}[\],]/;

/** Written in short turns of the loop. @param document of plain JSON values. */
export async function yaml(document: unknown): Promise<string> {
  const written: string[] = [];
  for (const piece of block(document, 0)) {
    written.push(piece);
    await yieldIfLong();
  }
  return `${written.join('').trimStart()}\n`;
}

/** A value after its name or its dash. */
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

/** On one line; null where it is longer than there is room for. */
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

/** As in JSON, what is undefined is not there. */
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
