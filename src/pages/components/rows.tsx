/** Settings in rows: name, description and an action. */
import type { ComponentChildren } from 'preact';
import { hyphenated } from '../../core/hyphenated.ts';

interface SectionProps {
  readonly id?: string;
  /** Absent where it would repeat the heading of the part. */
  readonly title?: string;
  readonly lead?: ComponentChildren;
  /** Separated and styled as dangerous. */
  readonly isDanger?: boolean;
  readonly children: ComponentChildren;
}

export function Section({ id, title, lead, isDanger = false, children }: SectionProps) {
  return (
    <section class="settings" id={id} data-danger={isDanger ? '' : undefined}>
      {title && <h2>{title}</h2>}
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
          {typeof title === 'string' ? hyphenated(title) : title}
        </div>
        {detail && <div class="fine">{detail}</div>}
      </div>
      {action && <div class="row-action">{action}</div>}
    </li>
  );
}

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

/** Placeholder of an empty list: what it will contain, and how entries get there. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
