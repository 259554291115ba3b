/** A single first step: icon, title and content. */
import { Check } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Icon } from '../../../pages/components/icon.tsx';

interface FirstStepProps {
  readonly id?: string;
  readonly title: string;
  readonly isDone: boolean;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function FirstStep({ id, title, isDone, action, children }: FirstStepProps) {
  return (
    <li id={id} data-done={isDone ? '' : undefined}>
      <div class="step-head">
        <span class="step-mark" aria-hidden="true">
          {isDone && <Icon of={Check} size={16} />}
        </span>
        <h3>
          {title}
          {isDone && <span class="visually-hidden"> (done)</span>}
        </h3>
        {action}
      </div>
      <div class="step-body">{children}</div>
    </li>
  );
}
