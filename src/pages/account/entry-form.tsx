/** Dialog and form state shared by addresses and companies: text fields, required fields and saving. */
import type { ComponentChildren } from 'preact';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account-context.tsx';
import { type Form, useForm } from './use-form.ts';

/** Used in element ids and message keys. */
export type EntryKind = 'address' | 'entity';

interface EntryOptions<Values extends object, Line extends keyof Values & string> {
  readonly kind: EntryKind;
  readonly path: string;
  /** Null for a new entry. */
  readonly entryId: string | null;
  readonly initial: Values;
  /** Text fields with the API's maximum lengths. */
  readonly lengths: Readonly<Record<Line, number>>;
  required(values: Values): readonly (keyof Values & string)[];
  labelOf(line: Line): string;
  /** Returns a message for a field that the API refused; null for the default. */
  problemOf?(name: keyof Values & string): string | null;
  onSaved(): void;
}

interface EntryForm<Values extends object, Line extends keyof Values & string> extends Form<Values> {
  field(line: Line): {
    readonly id: string;
    readonly label: string;
    readonly value: string;
    readonly error: string | null;
    readonly maxLength: number;
    onInput(event: { currentTarget: HTMLInputElement }): void;
  };
  /** @param added properties sent only for a new entry. */
  submit(given: object, added?: object): Promise<void>;
}

export function useEntryForm<
  Values extends { readonly [name: string]: string | boolean },
  Line extends keyof Values & string,
>(options: EntryOptions<Values, Line>): EntryForm<Values, Line> {
  const { kind, path, entryId, initial, lengths, required, labelOf, problemOf = () => null, onSaved } = options;
  const text = useTexts();
  const toast = useToast();
  const { api, fail, withProof } = useAccount();
  const isLine = (name: string): name is Line => name in lengths;
  const form = useForm(initial, (name) => {
    const usual = isLine(name) ? text('account.field.line', { max: lengths[name] }) : text('account.field.invalid');
    return problemOf(name) ?? usual;
  });
  const { values, errors, set } = form;

  async function submit(given: object, added: object = {}): Promise<void> {
    const missing = required(values).filter((name) => String(values[name]).trim() === '');
    if (missing.length > 0) {
      const problems = Object.fromEntries(missing.map((name) => [name, text('account.field.missing')]));
      form.mark(problems as Form<Values>['errors']);
      return document.getElementById(`${kind}-${missing[0]}`)?.focus();
    }
    const isSaved = await form.save(async () => {
      const outcome = await withProof({ purpose: 'profile' }, () =>
        entryId === null
          ? api.send('POST', path, { ...added, ...given })
          : api.send('PATCH', path, { id: entryId, ...given }),
      );
      if (outcome?.ok === false)
        if (outcome.code === 'invalid_state') toast(text('account.address.tooMany'), 'bad');
        else fail(outcome);
      return outcome;
    });
    if (!isSaved) return;
    toast(text(entryId === null ? `account.${kind}.added` : `account.${kind}.saved`));
    onSaved();
  }

  return {
    ...form,
    submit,
    field: (line) => ({
      id: `${kind}-${line}`,
      label: labelOf(line),
      value: String(values[line]),
      error: errors[line] ?? null,
      maxLength: lengths[line],
      onInput: (event) => set({ [line]: event.currentTarget.value } as unknown as Partial<Values>),
    }),
  };
}

interface EntryDialogProps {
  readonly kind: EntryKind;
  readonly isNew: boolean;
  readonly isSaving: boolean;
  readonly children: ComponentChildren;
  onSubmit(): Promise<void>;
  onClose(): void;
}

export function EntryDialog({ kind, isNew, isSaving, children, onSubmit, onClose }: EntryDialogProps) {
  const text = useTexts();
  return (
    <Dialog
      id={`${kind}-dialog`}
      title={text(isNew ? `account.${kind}.addTitle` : `account.${kind}.editTitle`)}
      onClose={onClose}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void onSubmit();
        }}
      >
        {children}
        <div class="dialog-actions">
          <Button look="plain" onClick={onClose}>
            {text('account.cancel')}
          </Button>
          <Button id={`${kind}-save`} type="submit" busyText={isSaving && text('account.saving')}>
            {text(isNew ? `account.${kind}.add` : 'account.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
