/** The description as YAML: what is short stands on one line, and every parser, of YAML 1.1 or 1.2, reads it alike. */

const LINE = 240;

/** Anything that could be read as another type, such as a time or `no`, is quoted. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[A-Za-z/$][\w/$.{}-]*(?: [\w/$.(-][\w/$.()-]*)*$/i;
/** In `[…]` and `{…}` these end a text. */
const FLOW_MARKS = /[{}[\],]/;

/** @param document of plain JSON values. */
export function yaml(document: unknown): string {
  return `${block(JSON.parse(JSON.stringify(document)), 0).trimStart()}\n`;
}

/** A value after its name or its dash. */
function block(value: unknown, depth: number): string {
  if (!isParent(value) || isEmpty(value)) return ` ${scalar(value, false)}`;
  const line = flow(value);
  if (depth > 0 && line.length + depth <= LINE) return ` ${line}`;
  const indent = `\n${' '.repeat(depth)}`;
  if (Array.isArray(value)) return value.map((item) => `${indent}-${block(item, depth + 1)}`).join('');
  return Object.entries(value)
    .map(([name, part]) => `${indent}${text(name, false)}:${block(part, depth + 1)}`)
    .join('');
}

function flow(value: unknown): string {
  if (!isParent(value) || isEmpty(value)) return scalar(value, true);
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([name, part]) => `${text(name, true)}: ${flow(part)}`)
    .join(', ')}}`;
}

function isParent(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function scalar(value: unknown, isInFlow: boolean): string {
  return typeof value === 'string' ? text(value, isInFlow) : JSON.stringify(value);
}

function text(value: string, isInFlow: boolean): string {
  return PLAIN.test(value) && !(isInFlow && FLOW_MARKS.test(value)) ? value : JSON.stringify(value);
}
