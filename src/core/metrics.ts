/**
 * Figures for those who watch an instance: counted in passing, in memory of a fixed size, and read when somebody asks. How
 * they are written down is not known here. No label ever holds a word that came from outside.
 */

export type Labels = Readonly<Record<string, string>>;

/** One number of a family. */
export interface Sample {
  /** What follows the family's name, for the parts of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: Labels;
  readonly value: number;
}

/** All numbers under one name. */
export interface MetricFamily {
  /** With its unit; a counter's ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  read(): readonly Sample[] | Promise<readonly Sample[]>;
}

/** What a gauge says: a number, one for each set of labels, or null where nothing is known. */
export type GaugeReading = number | null | readonly (readonly [labels: Labels, value: number | null])[];

/** One number that is counted up; whoever counts often keeps hold of it. */
export interface Cell {
  count: number;
}

export interface Tally {
  /** The number for these values of the labels, in their order; a value that is not listed counts as `other`. */
  cell(...values: string[]): Cell;
  inc(...values: string[]): void;
}

/** Sums up how long something took. */
export interface Histogram {
  observe(seconds: number): void;
  /** @param labels those of the whole histogram. */
  samples(labels?: Labels): Sample[];
}

/** The families of one instance, in the order in which they were made. */
export interface Metrics {
  /**
   * @param labels every value that each label can have.
   * @param options `isSparse`: numbers that were never counted are left out, where most never are.
   */
  counter(
    name: string,
    help: string,
    labels?: Readonly<Record<string, readonly string[]>>,
    options?: { readonly isSparse?: boolean },
  ): Tally;
  /** @param read asked at each look; it must be cheap, or remember. What it throws leaves this one out of that look. */
  gauge(name: string, help: string, read: () => GaugeReading | Promise<GaugeReading>): void;
  histogram(name: string, help: string, kept: Histogram): void;
  add(family: MetricFamily): void;
  families(): readonly MetricFamily[];
}

/** @param bounds upper ends of the buckets, in seconds, rising. */
export function histogramOf(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    observe(seconds) {
      let bucket = 0;
      while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket += 1;
      counts[bucket] = (counts[bucket] as number) + 1;
      sum += seconds;
    },
    samples(labels = {}) {
      let count = 0;
      const buckets = Array.from(counts, (own, index): Sample => {
        count += own;
        const le = index < bounds.length ? String(bounds[index]) : '+Inf';
        return { suffix: '_bucket', labels: { ...labels, le }, value: count };
      });
      return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: count }];
    },
  };
}

const OTHER = 'other';

/** One for all of an instance. */
export function metricsRegistry(): Metrics {
  const families = new Map<string, MetricFamily>();

  function add(family: MetricFamily): void {
    if (families.has(family.name)) throw new Error(`two figures are called ${family.name}`);
    families.set(family.name, family);
  }

  return {
    add,
    families: () => [...families.values()],
    counter(name, help, labels = {}, { isSparse = false } = {}) {
      const names = Object.keys(labels);
      const listed = names.map((label) => [...(labels[label] ?? [])]);
      const cells = new Map<string, Cell & { readonly labels: Labels }>();

      function cell(...given: string[]): Cell {
        const values = listed.map((known, index) => {
          const value = given[index] ?? OTHER;
          return known.includes(value) ? value : OTHER;
        });
        const key = values.join(' ');
        const known = cells.get(key);
        if (known) return known;
        const made = {
          labels: Object.fromEntries(names.map((label, index) => [label, values[index] ?? OTHER])),
          count: 0,
        };
        cells.set(key, made);
        return made;
      }

      /** A number that appears only once it is counted hides its first step from whoever looks for steps. */
      if (!isSparse)
        for (const values of listed.reduce<string[][]>(
          (before, known) => before.flatMap((values) => known.map((value) => [...values, value])),
          [[]],
        ))
          cell(...values);
      add({
        name,
        help,
        type: 'counter',
        read: () => [...cells.values()].map(({ labels: of, count: value }) => ({ labels: of, value })),
      });
      return { cell, inc: (...values) => void (cell(...values).count += 1) };
    },
    gauge(name, help, read) {
      add({ name, help, type: 'gauge', read: async () => samplesOf(await read()) });
    },
    histogram(name, help, kept) {
      add({ name, help, type: 'histogram', read: () => kept.samples() });
    },
  };
}

/** The numbers of a gauge; what is not known is left out. */
function samplesOf(reading: GaugeReading): Sample[] {
  if (reading === null) return [];
  if (typeof reading === 'number') return [{ labels: {}, value: reading }];
  return reading.flatMap(([labels, value]) => (value === null ? [] : [{ labels, value }]));
}
