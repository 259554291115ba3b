/** Confirms a destructive action: explains it, and asks to type the name if it cannot be undone. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Field } from '../../pages/components/field.tsx';
import type { Outcome } from '../api.ts';
import { FormDialog } from './form-dialog.tsx';

interface DangerDialogProps<T> {
  readonly id: string;
  readonly title: string;
  /** Explains what will happen, to whom, and whether it can be undone. */
  readonly lead: ComponentChildren;
  readonly confirmText: string;
  /** Name to type; absent if the action can be undone. */
  readonly nameToType?: string;
  readonly children?: ComponentChildren;
  readonly send: () => Promise<Outcome<T>>;
  readonly onDone: (data: T) => void;
  readonly onClose: () => void;
}

export function DangerDialog<T>({ nameToType, confirmText, children, ...rest }: DangerDialogProps<T>) {
  const [typed, setTyped] = useState('');
  return (
    <FormDialog
      {...rest}
      submitText={confirmText}
      isDanger
      isIncomplete={nameToType !== undefined && typed !== nameToType}
    >
      {() => (
        <>
          {children}
          {nameToType !== undefined && (
            <Field
              id={`${rest.id}-name`}
              label={
                <>
                  Type <code>{nameToType}</code> to go on
                </>
              }
              autocomplete="off"
              spellcheck={false}
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
