/** Form in a dialog: asks, sends, shows the server's errors below the fields, and closes itself. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { Dialog } from '../../pages/components/dialog.tsx';
import { Field } from '../../pages/components/field.tsx';
import type { Failure, Outcome } from '../api.ts';
import { fieldErrors } from './field-errors.ts';
import { type FormField, formFields } from './form-fields.tsx';
import { useCloseDialog } from './use-dialog.tsx';
import type { Form } from './use-form.ts';

interface FormDialogProps<Values extends object, Data> {
  readonly id: string;
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly submitText: string;
  readonly isDanger?: boolean;
  readonly isIncomplete?: boolean;
  /** Name to type before an action that cannot be undone. */
  readonly nameToType?: string | undefined;
  readonly form?: Form<Values>;
  readonly fields?: readonly FormField<Values>[];
  readonly send: () => Promise<Outcome<Data>>;
  /** Called once the dialog is closed. */
  readonly onDone: (data: Data) => unknown;
}

export function FormDialog<Data, Values extends object = Record<never, never>>(props: FormDialogProps<Values, Data>) {
  const { id, title, lead, submitText, isDanger, nameToType, form, fields = [], send, onDone } = props;
  const close = useCloseDialog();
  const [typedName, setTypedName] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const { errorOf, formError } = fieldErrors(failure);
  const isIncomplete = props.isIncomplete || (nameToType !== undefined && typedName !== nameToType);

  async function submit(): Promise<void> {
    if (isBusy || isIncomplete) return;
    setIsBusy(true);
    setFailure(null);
    const outcome = await send();
    setIsBusy(false);
    if (!outcome.ok) return setFailure(outcome);
    close();
    onDone(outcome.data);
  }

  const shownFields = formFields(form, fields, errorOf);
  return (
    <Dialog id={id} title={title} onClose={close}>
      {lead && <p class="lead">{lead}</p>}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {shownFields}
        {nameToType !== undefined && (
          <Field
            id={`${id}-name`}
            label={
              <>
                Type <code>{nameToType}</code> to confirm
              </>
            }
            autocomplete="off"
            spellcheck={false}
            value={typedName}
            onInput={({ currentTarget }) => setTypedName(currentTarget.value)}
          />
        )}
        <p class="field-error" role="alert" id={`${id}-failure`}>
          {formError()}
        </p>
        <div class="dialog-actions">
          <Button look="plain" onClick={close}>
            Cancel
          </Button>
          <Button
            id={`${id}-submit`}
            type="submit"
            look={isDanger ? 'danger' : 'primary'}
            disabled={isIncomplete}
            isBusy={isBusy}
          >
            {submitText}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
