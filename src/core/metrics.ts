/** Metrics of one instance, in memory of a fixed size, read on demand. No label ever holds text from outside. */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Suffix of the family's name, for the parts of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: Labels;
  readonly value: number;
}

export interface MetricFamily {
  /** Includes the unit; a counter's ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  read(): readonly Sample[] | Promise<readonly Sample[]>;
}

/** The value of a gauge: a number, or one for each set of labels; null if unknown. */
export type GaugeReading = number | null | readonly (readonly [labels: Labels, value: number | null])[];

/** One counter value; frequent callers keep a reference to it. */
export interface Cell {
  count: number;
}

export interface CounterFamily {
  /** Returns the counter for these label values, in the order of the labels; an unlisted value counts as `other`. */
  cell(...values: string[]): Cell;
  inc(...values: string[]): void;
}

export interface Histogram {
  observe(seconds: number): void;
  /** @param labels added to every value of the histogram. */
  samples(labels?: Labels): Sample[];
}

/** The metric families of one instance, in order of creation. */
export interface Metrics {
  /**
   * @param labels every possible value of each label.
   * @param options `isSparse` omits counters that were never incremented, for families where most never are.
   */
  counter(
    name: string,
    help: string,
    labels?: Readonly<Record<string, readonly string[]>>,
    options?: { readonly isSparse?: boolean },
  ): CounterFamily;
  /** @param read called at each scrape, so it must be cheap or cached. If it throws, that scrape omits the gauge. */
  gauge(name: string, help: string, read: () => GaugeReading | Promise<GaugeReading>): void;
  histogram(name: string, help: string, values: Histogram): void;
  add(family: MetricFamily): void;
  families(): readonly MetricFamily[];
}

/** @param bounds upper bounds of the buckets, in seconds, ascending. */
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

/** Samples that other threads have measured, of families with this name. */
export type OtherSamples = (name: string) => readonly Sample[];

/** @param others added to the values here. */
export function metricsRegistry(others: OtherSamples | null = null): Metrics {
  const families = new Map<string, MetricFamily>();

  function add(family: MetricFamily): void {
    if (families.has(family.name)) throw new Error(`two metrics are named ${family.name}`);
    families.set(family.name, family);
  }

  return {
    add,
    families: () => [...families.values()].map((family) => (others === null ? family : withOthers(family, others))),
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

      /** Counters are exported from 0: rate() misses the first increment of a series that appears later. */
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
    histogram(name, help, values) {
      add({ name, help, type: 'histogram', read: () => values.samples() });
    },
  };
}

function withOthers(family: MetricFamily, others: OtherSamples): MetricFamily {
  return {
    ...family,
    read: async () => summed([...(await family.read()), ...others(family.name)]),
  };
}

/** Adds up samples with the same labels. */
export function summed(samples: readonly Sample[]): Sample[] {
  const sums = new Map<string, Sample>();
  for (const sample of samples) {
    const key = JSON.stringify([sample.suffix, ...Object.entries(sample.labels).flat()]);
    const known = sums.get(key);
    sums.set(key, known === undefined ? sample : { ...known, value: known.value + sample.value });
  }
  return [...sums.values()];
}

function samplesOf(reading: GaugeReading): Sample[] {
  if (reading === null) return [];
  if (typeof reading === 'number') return [{ labels: {}, value: reading }];
  return reading.flatMap(([labels, value]) => (value === null ? [] : [{ labels, value }]));
}
