import type { Outcome, Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import type { FormField } from '../../components/form-fields.tsx';
import { useForm } from '../../components/use-form.ts';
import { slugOf } from '../../slug.ts';
import { type GrantKind, GRANT_WORDS } from './kinds.ts';

const MAX_SLUG = 64;

interface GrantFormProps {
  readonly kind: GrantKind;
  /** Null to create one. The slug of an existing one stays: backends compare it. */
  readonly grant: Schemas['Grant'] | null;
  readonly send: (input: Schemas['GrantInput']) => Promise<Outcome<Schemas['Grant']>>;
  readonly onDone: (grant: Schemas['Grant']) => unknown;
}

interface Values {
  name: string;
  description: string;
  slug: string | null;
  isDefault: boolean;
}

export function GrantForm({ kind, grant, send, onDone }: GrantFormProps) {
  const { add, change } = GRANT_WORDS[kind];
  const form = useForm<Values>({
    name: grant?.name ?? '',
    description: grant?.description ?? '',
    slug: grant?.slug ?? null,
    isDefault: grant?.isDefault ?? false,
  });
  const { name, description, isDefault } = form.values;
  const slug = form.values.slug ?? slugOf(name, MAX_SLUG, '_:.');
  const common: FormField<Values>[] = [
    { kind: 'text', id: 'grant-name', name: 'name', label: 'Name' },
    { kind: 'text', id: 'grant-description', name: 'description', label: 'Description (optional)', maxLength: 500 },
  ];
  const onlyNew: FormField<Values>[] = [
    {
      kind: 'identifier',
      id: 'grant-slug',
      name: 'slug',
      label: 'Slug',
      shown: slug,
      hint: 'What your backend reads. It cannot be changed while somebody has it.',
    },
    { kind: 'checkbox', id: 'grant-default', name: 'isDefault', label: 'Give it to everybody new' },
  ];
  return (
    <FormDialog
      id="grant-form"
      title={grant ? change : add}
      submitText={grant ? change : add}
      form={form}
      fields={grant ? common : [...common, ...onlyNew]}
      send={() => send({ slug, name: name.trim() || slug, description: description.trim() || null, isDefault })}
      onDone={onDone}
    />
  );
}
