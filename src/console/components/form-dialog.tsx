/** Form in a dialog, with the server's errors below the fields. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { Dialog } from '../../pages/components/dialog.tsx';
import type { Failure, Outcome } from '../api.ts';
import { refusals } from './refusals.ts';

interface FormDialogProps<T> {
  readonly id: string;
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly submitText: string;
  readonly isDanger?: boolean;
  readonly isIncomplete?: boolean;
  /** Fields, if any. @param errorOf returns the error of a field by its path in the body. */
  readonly children?: (errorOf: (path: string) => string | null) => ComponentChildren;
  readonly send: () => Promise<Outcome<T>>;
  readonly onDone: (data: T) => void;
  readonly onClose: () => void;
}

export function FormDialog<T>(props: FormDialogProps<T>) {
  const { id, title, lead, submitText, isDanger, isIncomplete, children, send, onDone, onClose } = props;
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const { errorOf, elsewhere } = refusals(failure);

  async function submit(): Promise<void> {
    if (isBusy || isIncomplete) return;
    setIsBusy(true);
    setFailure(null);
    const outcome = await send();
    setIsBusy(false);
    if (outcome.ok) onDone(outcome.data);
    else setFailure(outcome);
  }

  const fields = children?.(errorOf);
  return (
    <Dialog id={id} title={title} onClose={onClose}>
      {lead && <p class="lead">{lead}</p>}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {fields}
        <p class="field-error" role="alert" id={`${id}-failure`}>
          {elsewhere()}
        </p>
        <div class="dialog-actions">
          <Button look="plain" onClick={onClose}>
            Cancel
          </Button>
          <Button
            id={`${id}-submit`}
            type="submit"
            look={isDanger ? 'danger' : 'primary'}
            disabled={isIncomplete}
            aria-busy={isBusy ? 'true' : undefined}
          >
            {submitText}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
