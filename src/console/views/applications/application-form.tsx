import { api, ask, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { slugOf } from '../../slug.ts';

const MAX_SLUG = 63;

interface ApplicationFormProps {
  readonly workspaceId: string;
  readonly onDone: (application: Schemas['Application']) => unknown;
}

export function ApplicationForm({ workspaceId, onDone }: ApplicationFormProps) {
  const form = useForm({ name: '', slug: null as string | null, returnUrls: '' });
  const name = form.values.name.trim();
  const slug = form.values.slug ?? slugOf(name, MAX_SLUG);
  const returnUrls = form.values.returnUrls.split(/\s+/).filter(Boolean);
  // If no slug can be derived, the server chooses one.
  const body = { name, ...(slug !== '' && { slug }), ...(returnUrls.length > 0 && { returnUrls }) };
  return (
    <FormDialog
      id="application-form"
      title="Create application"
      lead="It begins as a draft that only members of the workspace can enter. Everything here can be changed later."
      submitText="Create application"
      isIncomplete={name === ''}
      form={form}
      fields={[
        {
          kind: 'text',
          id: 'application-name',
          name: 'name',
          label: 'Name',
          maxLength: 100,
          hint: 'People see it on the sign-in page and in mails.',
        },
        {
          kind: 'identifier',
          id: 'application-slug',
          name: 'slug',
          label: 'Slug',
          shown: slug,
          maxLength: MAX_SLUG,
          hint: 'A short name for addresses, unique on this server.',
        },
        {
          kind: 'textarea',
          id: 'application-urls',
          name: 'returnUrls',
          label: 'Return addresses (optional)',
          rows: 2,
          placeholder: 'https://shop.example.com/signed-in',
          hint: 'Where people may be sent after signing in, one per line.',
        },
      ]}
      send={() => ask(api.POST('/api/applications', { params: { query: { workspaceId } }, body }))}
      onDone={onDone}
    />
  );
}
