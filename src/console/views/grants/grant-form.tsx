/** Form for creating a role, scope or group. */
import { useState } from 'preact/hooks';
import { Checkbox } from '../../../pages/components/checkbox.tsx';
import { Field } from '../../../pages/components/field.tsx';
import type { Outcome, Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { slugOf } from '../../slug.ts';
import { type GrantKind, GRANT_WORDS } from './kinds.ts';

const MAX_SLUG = 64;

interface GrantFormProps {
  readonly kind: GrantKind;
  readonly send: (input: Schemas['GrantInput']) => Promise<Outcome<Schemas['Grant']>>;
  readonly onDone: (grant: Schemas['Grant']) => void;
  readonly onClose: () => void;
}

export function GrantForm({ kind, send, onDone, onClose }: GrantFormProps) {
  const words = GRANT_WORDS[kind];
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string | null>(null);
  const [isDefault, setIsDefault] = useState(false);
  const shownSlug = slug ?? slugOf(name, MAX_SLUG, '_:.');
  return (
    <FormDialog
      id="grant-form"
      title={words.add}
      submitText={words.add}
      send={() => send({ slug: shownSlug, name: name.trim() || shownSlug, isDefault })}
      onDone={onDone}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <Field
            id="grant-name"
            label="Name"
            autoFocus
            autocomplete="off"
            value={name}
            error={errorOf('name')}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Field
            id="grant-slug"
            label="Slug"
            autocomplete="off"
            autoCapitalize="none"
            spellcheck={false}
            value={shownSlug}
            hint="What your backend reads. It cannot be changed while somebody has it."
            error={errorOf('slug')}
            onInput={({ currentTarget }) => setSlug(currentTarget.value)}
          />
          <Checkbox id="grant-default" label="Give it to everybody new" isChecked={isDefault} onChange={setIsDefault} />
        </>
      )}
    </FormDialog>
  );
}
