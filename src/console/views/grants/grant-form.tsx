import type { Outcome, Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { slugOf } from '../../slug.ts';
import { type GrantKind, GRANT_WORDS } from './kinds.ts';

const MAX_SLUG = 64;

interface GrantFormProps {
  readonly kind: GrantKind;
  readonly send: (input: Schemas['GrantInput']) => Promise<Outcome<Schemas['Grant']>>;
  readonly onDone: (grant: Schemas['Grant']) => unknown;
}

export function GrantForm({ kind, send, onDone }: GrantFormProps) {
  const { add } = GRANT_WORDS[kind];
  const form = useForm({ name: '', slug: null as string | null, isDefault: false });
  const { name, isDefault } = form.values;
  const slug = form.values.slug ?? slugOf(name, MAX_SLUG, '_:.');
  return (
    <FormDialog
      id="grant-form"
      title={add}
      submitText={add}
      form={form}
      fields={[
        { kind: 'text', id: 'grant-name', name: 'name', label: 'Name' },
        {
          kind: 'identifier',
          id: 'grant-slug',
          name: 'slug',
          label: 'Slug',
          shown: slug,
          hint: 'What your backend reads. It cannot be changed while somebody has it.',
        },
        { kind: 'checkbox', id: 'grant-default', name: 'isDefault', label: 'Give it to everybody new' },
      ]}
      send={() => send({ slug, name: name.trim() || slug, isDefault })}
      onDone={onDone}
    />
  );
}
