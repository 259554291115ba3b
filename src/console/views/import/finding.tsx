/** One kind of problem in a file: how many, which, and what follows. */
import type { ComponentChildren } from 'preact';
import { count } from '../../components/format.ts';

const SHOWN = 100;

interface FindingProps {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly items: readonly string[];
  readonly children?: ComponentChildren;
}

export function Finding({ id, title, lead, items, children }: FindingProps) {
  return (
    <div class="finding" id={id}>
      <details>
        <summary>{title}</summary>
        <ul tabIndex={0}>
          {items.slice(0, SHOWN).map((item) => (
            <li key={item} dir="auto">
              {item}
            </li>
          ))}
          {items.length > SHOWN && <li>And {count(items.length - SHOWN)} more.</li>}
        </ul>
      </details>
      <p class="fine">{lead}</p>
      {children}
    </div>
  );
}
