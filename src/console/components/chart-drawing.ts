/** The drawing of a chart: complete times as a line, and the step to the running one dashed. */
import type uPlot from 'uplot';
import { once } from '../once.ts';
import { count, dayOf } from './format.ts';

export interface Series {
  readonly name: string;
  /** Null where there is no value. */
  readonly values: readonly (number | null)[];
}

export interface Drawn {
  /** ISO dates or hours, oldest first. The last one is not complete. */
  readonly times: readonly string[];
  readonly series: readonly [Series, ...Series[]];
  /** Whether the times are hours instead of days. */
  readonly isHourly?: boolean;
  /** By default the number itself. */
  readonly format?: (value: number) => string;
}

export const HEIGHT = 200;
const COLOURS = ['--ring', '--muted'];
const RUNNING_DASH = [3, 4];

/** Returns the times and, for each series, its complete values and those to its running one. */
export function alignedData({ times, series }: Drawn): uPlot.AlignedData {
  const last = times.length - 1;
  return [
    times.map((time) => Date.parse(time) / 1000),
    ...series.map(({ values }) => values.map((value, index) => (index < last ? value : null))),
    ...series.map(({ values }) => values.map((value, index) => (index >= last - 1 ? value : null))),
  ];
}

/** @param drawn returns what is drawn now: the options outlive it. */
export function optionsFor(element: HTMLElement, drawn: () => Drawn): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--muted'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const lineOf = ({ name }: Series, index: number): uPlot.Series => ({
    label: name,
    stroke: colour(COLOURS[index] ?? '--muted'),
    width: index === 0 ? 2 : 1.5,
    points: { show: false },
    ...(index === 0 && { fill: `color-mix(in srgb, ${colour('--ring')} 12%, transparent)` }),
  });
  const { series } = drawn();
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    // Starts at zero, so that a quiet day is at the bottom.
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(4, (max ?? 0) * 1.1)] } },
    tzDate: (seconds) => new Date(seconds * 1000 + new Date(seconds * 1000).getTimezoneOffset() * 60_000),
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 72,
        values: (_, ticks) => ticks.map((tick) => shortTime(tick, drawn())),
      },
      {
        ...axis,
        size: drawn().format ? 60 : 48,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6],
        values: (_, ticks) => ticks.map((tick) => (drawn().format ?? count)(tick)),
      },
    ],
    series: [{}, ...series.map(lineOf), ...series.map((one, index) => ({ ...lineOf(one, index), dash: RUNNING_DASH }))],
    hooks: { setCursor: [({ cursor }) => showTooltip(cursor.idx, element, drawn())] },
  };
}

const shortDay = once(() => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }));
const shortHour = once(() => new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' }));

const shortTime = (seconds: number, { isHourly }: Drawn) =>
  (isHourly ? shortHour() : shortDay()).format(new Date(seconds * 1000));

/** Returns the day, or the day and the hour in UTC. */
export function timeOf(time: string, { isHourly }: Pick<Drawn, 'isHourly'>): string {
  if (!isHourly) return dayOf(time);
  const at = new Date(time);
  return `${shortDay().format(at)}, ${shortHour().format(at)}`;
}

/** Shows the hovered time and its numbers in a native tooltip. */
function showTooltip(at: number | null | undefined, element: HTMLElement, drawn: Drawn): void {
  const { times, series, format = count } = drawn;
  const time = at === null || at === undefined ? undefined : times[at];
  if (time === undefined) return element.removeAttribute('title');
  const values = series.map(({ name, values }) => {
    const value = values[at as number] ?? null;
    return `${name}: ${value === null ? 'none' : format(value)}`;
  });
  const running = at === times.length - 1 ? ' so far' : '';
  element.title = `${timeOf(time, drawn)}${running} · ${values.join(' · ')}`;
}
