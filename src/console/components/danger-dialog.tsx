/** Asks once before something destructive: says what will happen, and has the name typed where it cannot be undone. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Field } from '../../pages/components/field.tsx';
import type { Outcome } from '../api.ts';
import { FormDialog } from './form-dialog.tsx';

interface DangerDialogProps<T> {
  readonly id: string;
  readonly title: string;
  /** What will happen, to whom, and whether it can be undone. */
  readonly lead: ComponentChildren;
  /** The verb: "Delete webhook". */
  readonly confirmText: string;
  /** To be typed; left out where it can be undone. */
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
