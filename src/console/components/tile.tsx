/** Number with its change since the period before. */
import { count } from './format.ts';

interface TileProps {
  readonly label: string;
  /** Without `previous` it is compared with nothing. */
  readonly of: { readonly count: number; readonly previous?: number };
  /** Name of the period before. */
  readonly before?: string;
  /** A line in place of the change. */
  readonly note?: string | undefined;
  /** An increase is bad. */
  readonly isTrouble?: boolean;
}

export function Tile({ label, of, before = '', note, isTrouble = false }: TileProps) {
  const { previous = 0 } = of;
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd>
        <span class="stat-value">{count(of.count)}</span>
        {note !== undefined ? (
          <span class="delta">{note}</span>
        ) : (
          previous > 0 && <Delta value={of.count} previous={previous} before={before} isTrouble={isTrouble} />
        )}
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

/** Only an increase of something bad is red; a decrease of something good may have many causes. */
function toneOf(change: number, isTrouble: boolean): 'good' | 'bad' | 'calm' {
  if (change === 0) return 'calm';
  if (isTrouble) return change > 0 ? 'bad' : 'good';
  return change > 0 ? 'good' : 'calm';
}

function Delta({ value, previous, before, isTrouble }: DeltaProps) {
  const change = Math.round(((value - previous) / previous) * 100);
  return (
    <span class="delta" data-tone={toneOf(change, isTrouble)} title={`${count(previous)} ${before}`}>
      {change === 0 ? 'unchanged' : `${change > 0 ? '+' : '−'}${count(Math.abs(change))} %`}
      <span class="visually-hidden">
        {' '}
        against {count(previous)} {before}
      </span>
    </span>
  );
}
