/** Number compared with a previous period. */
import { count } from './format.ts';

interface TileProps {
  readonly label: string;
  readonly of: { readonly count: number; readonly previous: number };
  /** Name of the previous period. */
  readonly before: string;
  /** An increase is bad. */
  readonly isTrouble?: boolean;
}

export function Tile({ label, of, before, isTrouble = false }: TileProps) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd>
        <span class="stat-value">{count(of.count)}</span>
        <Delta value={of.count} previous={of.previous} before={before} isTrouble={isTrouble} />
      </dd>
    </div>
  );
}

interface DeltaProps {
  readonly value: number;
  readonly previous: number;
  readonly before: string;
  readonly isTrouble: boolean;
}

function Delta({ value, previous, before, isTrouble }: DeltaProps) {
  const compared = `${count(previous)} in ${before}`;
  if (previous === 0)
    return <span class="delta">{value === 0 ? `none in ${before} either` : `none in ${before}`}</span>;
  const change = Math.round(((value - previous) / previous) * 100);
  const tone = change === 0 ? 'calm' : change > 0 === isTrouble ? 'bad' : 'good';
  return (
    <span class="delta" data-tone={tone} title={compared}>
      {change === 0 ? 'as' : `${change > 0 ? '+' : '−'}${count(Math.abs(change))} %`}{' '}
      <span>{change === 0 ? `in ${before}` : `from ${before}`}</span>
    </span>
  );
}
