/** Settings in rows: what it is, what it means, one action on the right. */
import type { ComponentChildren } from 'preact';

interface SectionProps {
  readonly id?: string;
  readonly title: string;
  readonly lead?: ComponentChildren;
  /** Stands apart, in the colour of danger. */
  readonly isDanger?: boolean;
  readonly children: ComponentChildren;
}

export function Section({ id, title, lead, isDanger = false, children }: SectionProps) {
  return (
    <section class="settings" id={id} data-danger={isDanger ? '' : undefined}>
      <h2>{title}</h2>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}

interface RowProps {
  readonly id?: string;
  readonly icon?: ComponentChildren;
  readonly title: ComponentChildren;
  readonly detail?: ComponentChildren;
  readonly action?: ComponentChildren;
}

export function Rows({ children }: { children: ComponentChildren }) {
  return <ul class="rows">{children}</ul>;
}

export function Row({ id, icon, title, detail, action }: RowProps) {
  return (
    <li class="row" id={id}>
      {icon && <span class="row-icon">{icon}</span>}
      <div class="row-text">
        <div class="row-title" dir="auto">
          {title}
        </div>
        {detail && <div class="fine">{detail}</div>}
      </div>
      {action && <div class="row-action">{action}</div>}
    </li>
  );
}

/** Of what comes, in its shape, while it is fetched. */
export function RowsSkeleton({ count = 3 }: { count?: number }) {
  return (
    <ul class="rows" aria-hidden="true">
      {Array.from({ length: count }, (_, index) => (
        <li class="row" key={index}>
          <div class="row-text">
            <div class="skeleton" />
            <div class="skeleton short" />
          </div>
        </li>
      ))}
    </ul>
  );
}

/** What will be here, and how it comes to be. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
