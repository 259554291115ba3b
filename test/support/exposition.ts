/** Parses the text of `/metrics` strictly: refuses input that a lenient parser would accept. */

export interface ReadFamily {
  readonly type: string;
  readonly help: string;
  readonly samples: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

export interface ReadFigures {
  readonly families: ReadonlyMap<string, ReadFamily>;
  /** Returns undefined for an unknown sample. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const SUFFIXES: Record<string, readonly string[]> = { histogram: ['_bucket', '_sum', '_count'] };

/** Parses an exposition. @throws for a malformed line. */
export function readExposition(text: string, format: 'prometheus' | 'openmetrics' = 'prometheus'): ReadFigures {
  const families = new Map<string, ReadFamily>();
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const lines = text.slice(0, -1).split('\n');
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('OpenMetrics ends with # EOF');
  let family: ReadFamily | undefined;
  let familyName = '';
  let help: string | undefined;
  for (const line of lines) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word === 'HELP') {
      if (!NAME.test(name) || families.has(name)) throw new Error(`a family twice, or not one: ${line}`);
      [familyName, help, family] = [name, rest, undefined];
    } else if (word === 'TYPE') {
      if (name !== familyName || help === undefined || !['counter', 'gauge', 'histogram'].includes(rest))
        throw new Error(`a type that is none of its family: ${line}`);
      families.set(name, (family = { type: rest, help, samples: [] }));
    } else {
      if (!family) throw new Error(`a number without a family: ${line}`);
      family.samples.push(sampleOf(line, familyName, family.type, format));
    }
  }
  for (const [name, { type, samples }] of families) {
    if (samples.length === 0) throw new Error(`${name} has no number`);
    const keys = samples.map(({ name: own, labels }) => keyOf(own, labels));
    if (new Set(keys).size !== keys.length) throw new Error(`${name} has a number twice`);
    if (type === 'histogram') checkHistograms(name, samples);
  }
  const all = new Map(
    [...families.values()].flatMap(({ samples }) => samples.map((one) => [keyOf(one.name, one.labels), one.value])),
  );
  return { families, value: (name, labels = {}) => all.get(keyOf(name, labels)) };
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  return `${name} ${JSON.stringify(Object.entries(labels).sort(([a], [b]) => a.localeCompare(b)))}`;
}

function sampleOf(line: string, family: string, type: string, format: string): ReadFamily['samples'][number] {
  const [, name = '', labelText = '', number = ''] = /^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  const base = format === 'openmetrics' && type === 'counter' ? `${family}_total` : family;
  const allowed = SUFFIXES[type]?.map((suffix) => base + suffix) ?? [base];
  if (!allowed.includes(name)) throw new Error(`not of ${family}: ${line}`);
  if (!/^(?:-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)|\+Inf|-Inf|NaN)$/i.test(number)) throw new Error(`no number: ${line}`);
  const labels: Record<string, string> = {};
  let rest = labelText;
  while (rest !== '') {
    const [whole, label, value] = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?=.)|$)/.exec(rest) ?? [];
    if (whole === undefined || label! in labels) throw new Error(`no labels: ${line}`);
    labels[label!] = value!.replace(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));
    rest = rest.slice(whole.length);
  }
  if (format === 'openmetrics' && /^\d+$/.test(labels['le'] ?? ''))
    throw new Error(`a bucket without fraction: ${line}`);
  return { name, labels, value: number.endsWith('Inf') ? Infinity : Number(number) };
}

/** Checks that buckets rise, and that the last one equals the count. */
function checkHistograms(name: string, samples: ReadFamily['samples']): void {
  const groups = Map.groupBy(samples, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  for (const group of groups.values()) {
    const buckets = group.filter((one) => one.name === `${name}_bucket`);
    const values = buckets.map(({ value }) => value);
    const ends = buckets.map(({ labels }) => (labels['le'] === '+Inf' ? Infinity : Number(labels['le'])));
    const rises = (numbers: number[]) => numbers.every((one, index) => index === 0 || one >= numbers[index - 1]!);
    const count = group.find((one) => one.name === `${name}_count`)?.value;
    if (!rises(values) || !rises(ends) || ends.at(-1) !== Infinity || values.at(-1) !== count)
      throw new Error(`${name} is no histogram`);
    if (!group.some((one) => one.name === `${name}_sum`)) throw new Error(`${name} has no sum`);
  }
}
