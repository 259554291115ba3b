/** Top values as a table with bars. */
import type { ComponentChildren } from 'preact';
import { count } from './format.ts';
import { Panel } from './panel.tsx';

interface Ranked {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly count: number;
}

interface RankingPanelProps {
  readonly title: string;
  readonly action?: ComponentChildren;
  readonly label: string;
  readonly of: readonly Ranked[];
  readonly none: string;
}

export function RankingPanel({ title, action, label, of, none }: RankingPanelProps) {
  const most = Math.max(1, ...of.map((entry) => entry.count));
  return (
    <Panel title={title} action={action}>
      {of.length === 0 ? (
        <p class="fine">{none}</p>
      ) : (
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
      )}
    </Panel>
  );
}
