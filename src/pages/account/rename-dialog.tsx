import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Outcome } from '../browser/api.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { accountFailureText } from './failure-words.ts';
import { Field } from '../components/field.tsx';
import { useTexts } from '../components/texts.tsx';

/** Maximum length of the API. */
const MAX_LENGTH = 100;

interface RenameDialogProps {
  readonly name: string;
  save(name: string): Promise<Outcome<unknown>>;
  /** @param name new name; null if unchanged. */
  onEnd(name: string | null): void;
}

export function RenameDialog({ name, save, onEnd }: RenameDialogProps) {
  const text = useTexts();
  const field = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<string | null>(null);
  const [isAtWork, setIsAtWork] = useState(false);
  useLayoutEffect(() => field.current?.select(), []);

  async function submit(): Promise<void> {
    if (isAtWork) return;
    const given = field.current?.value.trim() ?? '';
    if (given === name) return onEnd(null);
    if (given === '') return setError(text('account.renameMissing', { max: MAX_LENGTH }));
    setIsAtWork(true);
    const outcome = await save(given);
    setIsAtWork(false);
    if (outcome.ok) return onEnd(given);
    const isOfName = outcome.code === 'invalid_request';
    setError(isOfName ? text('account.renameMissing', { max: MAX_LENGTH }) : accountFailureText(text, outcome));
  }

  return (
    <Dialog
      id="rename"
      title={text('account.actionFor', { action: text('account.rename'), name })}
      onClose={() => onEnd(null)}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Field
          id="new-name"
          label={text('account.renameLabel')}
          value={name}
          autocomplete="off"
          maxLength={MAX_LENGTH}
          required
          error={error}
          inputRef={field}
        />
        <div class="dialog-actions">
          <Button look="plain" onClick={() => onEnd(null)}>
            {text('account.cancel')}
          </Button>
          <Button id="rename-submit" type="submit" busyText={isAtWork && text('account.saving')}>
            {text('account.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
