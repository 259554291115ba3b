/** Final step of a flow: icon, result and next action. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { IconNode } from 'lucide';
import { Icon } from './icon.tsx';

interface OutcomeProps {
  readonly id?: string;
  readonly icon: IconNode;
  readonly tone: 'good' | 'bad' | 'warn' | 'neutral';
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Focuses the heading for keyboards and screen readers. */
export function OutcomeStep({ id, icon, tone, title, lead, children }: OutcomeProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const before = document.title;
    document.title = title;
    heading.current?.focus();
    return () => {
      document.title = before;
    };
  }, [title]);
  return (
    <section class="step" id={id}>
      <div class="outcome-head">
        <span class="outcome-mark" data-tone={tone}>
          <Icon of={icon} />
        </span>
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
      </div>
      <p class="lead">{lead}</p>
      {children && <div class="actions">{children}</div>}
    </section>
  );
}
