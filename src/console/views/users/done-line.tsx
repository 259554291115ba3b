/** Line above the list that says what a change of many users did, with its undo. */
import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Icon } from '../../../pages/components/icon.tsx';
import { Action } from '../../components/action.tsx';

interface DoneLineProps {
  readonly id: string;
  readonly text: string;
  readonly onUndo?: (() => unknown) | null;
  readonly onDismiss: () => void;
  readonly children?: ComponentChildren;
}

export function DoneLine({ id, text, onUndo, onDismiss, children }: DoneLineProps) {
  return (
    <div class="selection" id={id}>
      <span role="status">{text}</span>
      {onUndo && (
        <Action id={`${id}-undo`} onClick={onUndo}>
          Undo
        </Action>
      )}
      {children}
      <button class="icon-button" type="button" aria-label="Dismiss" onClick={onDismiss}>
        <Icon of={X} size={16} />
      </button>
    </div>
  );
}
