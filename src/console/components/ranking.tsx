/** Top values as a table with bars. */
import type { ComponentChildren } from 'preact';
import { count } from './format.ts';

interface Ranked {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly count: number;
}

interface RankingProps {
  readonly label: string;
  readonly of: readonly Ranked[];
  readonly none: string;
}

export function Ranking({ label, of, none }: RankingProps) {
  const most = Math.max(1, ...of.map((entry) => entry.count));
  if (of.length === 0) return <p class="fine">{none}</p>;
  return (
    <table class="ranking" aria-label={label}>
      <tbody>
        {of.map((entry) => (
          <tr key={entry.key}>
            <th scope="row">{entry.label}</th>
            <td class="ranking-bar" aria-hidden="true">
              <div style={{ width: `${(entry.count / most) * 100}%` }} />
            </td>
            <td data-numeric="">{count(entry.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
