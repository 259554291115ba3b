/** Empty state: what will appear here, and the first step. */
import type { ComponentChildren } from 'preact';

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}
