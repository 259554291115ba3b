/** Titled section of a view, such as settings, a chart or a danger zone. */
import type { ComponentChildren } from 'preact';

interface PanelProps {
  readonly id?: string;
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly action?: ComponentChildren;
  readonly isDanger?: boolean;
  readonly children?: ComponentChildren;
}

export function Panel({ id, title, lead, action, isDanger = false, children }: PanelProps) {
  return (
    <section class="panel" id={id} data-danger={isDanger ? '' : undefined}>
      <header>
        <div>
          <h2>{title}</h2>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {action}
      </header>
      {children}
    </section>
  );
}
