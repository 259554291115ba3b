/**
 * Writes metrics as text: Prometheus format 0.0.4, or OpenMetrics 1.0.0 for readers that prefer it.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import type { Labels, MetricFamily, Sample } from '../../core/metrics.ts';
import { yieldIfLong } from '../../core/event-loop.ts';

export type TextFormat = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<TextFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** @param accept the Accept header (RFC 9110 §12.5.1); OpenMetrics needs at least the quality of plain text. */
export function formatFor(accept: string | null): TextFormat {
  let [openmetrics, plain] = [0, 0];
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const valueOf = (name: string) => parameters.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
    const quality = Number(valueOf('q') ?? 1) || 0;
    const version = valueOf('version');
    if (type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'))
      openmetrics = Math.max(openmetrics, quality);
    if (type === 'text/plain') plain = Math.max(plain, quality);
  }
  return openmetrics > 0 && openmetrics >= plain ? 'openmetrics' : 'prometheus';
}

/** @param onFailure called for each family that could not be read; the others are still written. */
export async function exposition(
  families: readonly MetricFamily[],
  format: TextFormat,
  onFailure: (name: string, error: unknown) => void,
): Promise<string> {
  const read = await Promise.all(
    families.map(async (family) => {
      try {
        return { family, samples: await family.read() };
      } catch (error) {
        onFailure(family.name, error);
        return { family, samples: [] };
      }
    }),
  );
  const lines: string[] = [];
  for (const { family, samples } of read) {
    if (samples.length === 0) continue;
    const pause = yieldIfLong();
    if (pause) await pause;
    write(lines, family, samples, format);
  }
  if (format === 'openmetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function write(lines: string[], { name, help, type }: MetricFamily, samples: readonly Sample[], format: TextFormat) {
  // OpenMetrics drops `_total` from a counter's family name and keeps it on the samples.
  const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  lines.push(`# HELP ${family} ${escaped(help, format === 'openmetrics')}`, `# TYPE ${family} ${type}`);
  for (const { suffix = '', labels, value } of samples)
    lines.push(`${name}${suffix}${labelText(labels, format)} ${numberText(value)}`);
}

function labelText(labels: Labels, format: TextFormat): string {
  const parts = Object.entries(labels).map(([label, value]) => {
    // OpenMetrics writes a bucket's bound as a float.
    const text = label === 'le' && format === 'openmetrics' && /^\d+$/.test(value) ? `${value}.0` : value;
    return `${label}="${escaped(text, true)}"`;
  });
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

function escaped(text: string, isQuoted: boolean): string {
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return isQuoted ? plain.replaceAll('"', '\\"') : plain;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
