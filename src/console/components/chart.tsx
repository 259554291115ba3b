/** Values over days or hours as a chart, with a table for people who cannot see it. The last one is still running. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { alignedData, type Drawn, HEIGHT, optionsFor, type Series, timeOf } from './chart-drawing.ts';
import { count, dayOf } from './format.ts';

/** Loads what draws charts while their values are loaded. A failure shows when one is drawn. */
export function useChartPreload(): void {
  useLayoutEffect(() => void import('uplot').catch(() => {}), []);
}

interface ChartProps extends Drawn {
  readonly id: string;
  readonly label: string;
  /** Text for who cannot see the chart; by default the total of each series. */
  readonly summary?: string;
}

export function Chart({ id, ...drawn }: ChartProps) {
  const [isTable, setIsTable] = useState(false);
  const tableId = useId();
  return (
    <figure class="chart" id={id}>
      {isTable ? <TimeTable id={tableId} {...drawn} /> : <Drawing {...drawn} />}
      <figcaption>
        {drawn.series.length > 1 && (
          <ul class="legend">
            {drawn.series.map(({ name }, index) => (
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

function Drawing({ label, summary, ...drawn }: Omit<ChartProps, 'id'>) {
  const { times, series } = drawn;
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(drawn);
  latest.current = drawn;

  useLayoutEffect(() => {
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
      plot.current = new UPlot(
        optionsFor(element, () => latest.current),
        alignedData(latest.current),
        element,
      );
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
  useEffect(() => plot.current?.setData(alignedData(drawn)), [JSON.stringify([times, series])]);

  const [first, last] = [times[0], times.at(-1)];
  const span = first && last ? `, from ${dayOf(first)} to ${dayOf(last)}` : '';
  return (
    <div
      class="drawing"
      ref={container}
      role="img"
      aria-label={`${label}: ${summary ?? series.map(totalOf).join(', ')}${span}`}
    />
  );
}

const totalOf = ({ name, values }: Series) =>
  `${count(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))} ${name}`;

function TimeTable({ id, label, ...drawn }: ChartProps) {
  const { times, series, format = count } = drawn;
  return (
    <div class="table-frame day-table">
      <table id={id} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{drawn.isHourly ? 'Hour' : 'Day'}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" data-numeric="">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time}>
              <td>
                {timeOf(time, drawn)}
                {index === times.length - 1 && <span class="muted"> so far</span>}
              </td>
              {series.map(({ name, values }) => {
                const value = values[index] ?? null;
                return (
                  <td key={name} data-numeric="">
                    {value === null ? '–' : format(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
