/** Empty state: what will appear here, and the first step. */
import type { ComponentChildren } from 'preact';
import { Action } from './action.tsx';

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

interface NoMatchProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly clearText: string;
  readonly onClear: () => unknown;
}

/** Empty state of a filtered list. */
export function NoMatch({ title, children, clearText, onClear }: NoMatchProps) {
  const clear = (
    <Action needs="nothing" onClick={onClear}>
      {clearText}
    </Action>
  );
  return (
    <Empty title={title} action={clear}>
      {children}
    </Empty>
  );
}
