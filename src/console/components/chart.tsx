/** Daily counts as a chart, with a table for people who cannot see it. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { count, dayOf } from './format.ts';

interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly id: string;
  readonly label: string;
  /** ISO dates, oldest first. */
  readonly days: readonly string[];
  readonly series: readonly [Series, ...Series[]];
}

const HEIGHT = 200;
const COLOURS = ['--ring', '--muted'];

export function Chart({ id, label, days, series }: ChartProps) {
  const [isTable, setIsTable] = useState(false);
  const tableId = useId();
  return (
    <figure class="chart" id={id}>
      {isTable ? (
        <DayTable id={tableId} label={label} days={days} series={series} />
      ) : (
        <Drawing label={label} days={days} series={series} />
      )}
      <figcaption>
        {series.length > 1 && (
          <ul class="legend">
            {series.map(({ name }, index) => (
              <li key={name} data-series={index}>
                {name}
              </li>
            ))}
          </ul>
        )}
        <button class="link" type="button" aria-expanded={isTable} onClick={() => setIsTable(!isTable)}>
          {isTable ? 'Show as chart' : 'Show as table'}
        </button>
      </figcaption>
    </figure>
  );
}

function Drawing({ label, days, series }: Omit<ChartProps, 'id'>) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data: uPlot.AlignedData = [
    days.map((day) => Date.parse(day) / 1000),
    ...series.map(({ values }) => [...values]),
  ];
  const latest = useRef(data);
  latest.current = data;

  useEffect(() => {
    let isOver = false;
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const watcher = new ResizeObserver(([entry]) =>
      plot.current?.setSize({ width: entry?.contentRect.width ?? 0, height: HEIGHT }),
    );
    async function draw(): Promise<void> {
      const { default: UPlot } = await import('uplot');
      const element = container.current;
      if (isOver || !element) return;
      plot.current?.destroy();
      plot.current = new UPlot(optionsFor(element, series), latest.current, element);
      watcher.observe(element);
    }
    void draw();
    const redraw = () => void draw();
    scheme.addEventListener('change', redraw);
    return () => {
      isOver = true;
      scheme.removeEventListener('change', redraw);
      watcher.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [series.length]);
  useEffect(() => plot.current?.setData(data), [JSON.stringify(data)]);

  const total = series.map(({ name, values }) => `${count(values.reduce((sum, value) => sum + value, 0))} ${name}`);
  const [first, last] = [days[0], days.at(-1)];
  const span = first && last ? `, from ${dayOf(first)} to ${dayOf(last)}` : '';
  return <div class="drawing" ref={container} role="img" aria-label={`${label}: ${total.join(', ')}${span}`} />;
}

function optionsFor(element: HTMLElement, series: readonly Series[]): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--muted'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    // Starts at zero, so that a quiet day is at the bottom.
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
    tzDate: (seconds) => new Date(seconds * 1000 + new Date(seconds * 1000).getTimezoneOffset() * 60_000),
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 72, values: (_, ticks) => ticks.map(shortDay) },
      {
        ...axis,
        size: 48,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6],
        values: (_, ticks) => ticks.map(count),
      },
    ],
    series: [
      {},
      ...series.map(({ name }, index) => ({
        label: name,
        stroke: colour(COLOURS[index] ?? '--muted'),
        width: 2,
        points: { show: false },
        ...(index > 0 && { dash: [4, 4] }),
        ...(index === 0 && { fill: `color-mix(in srgb, ${colour('--ring')} 12%, transparent)` }),
      })),
    ],
    hooks: { setCursor: [(plot) => showTooltip(plot, element)] },
  };
}

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const shortDay = (seconds: number) => SHORT_DAY.format(new Date(seconds * 1000));

/** Shows the hovered day and its numbers in a native tooltip. */
function showTooltip({ cursor, data, series }: uPlot, element: HTMLElement): void {
  const at = cursor.idx;
  const day = at === null || at === undefined ? undefined : data[0][at];
  if (day === undefined) return element.removeAttribute('title');
  const values = series.slice(1).map(({ label }, index) => `${label}: ${count(data[index + 1]?.[at as number] ?? 0)}`);
  element.title = `${shortDay(day)} · ${values.join(' · ')}`;
}

function DayTable({ id, label, days, series }: ChartProps) {
  return (
    <div class="table-frame day-table">
      <table id={id} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" data-numeric="">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day, index) => (
            <tr key={day}>
              <td>{dayOf(day)}</td>
              {series.map(({ name, values }) => (
                <td key={name} data-numeric="">
                  {count(values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
