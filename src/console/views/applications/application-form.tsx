/** Form for creating an application. */
import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { TextArea } from '../../components/text-area.tsx';
import { slugOf } from '../../slug.ts';

const MAX_SLUG = 63;

interface ApplicationFormProps {
  readonly workspaceId: string;
  readonly onDone: (application: Schemas['Application']) => void;
  readonly onClose: () => void;
}

export function ApplicationForm({ workspaceId, onDone, onClose }: ApplicationFormProps) {
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string | null>(null);
  const [urls, setUrls] = useState('');
  const shownSlug = slug ?? slugOf(name, MAX_SLUG);
  const returnUrls = urls.split(/\s+/).filter(Boolean);
  return (
    <FormDialog
      id="application-form"
      title="Create application"
      lead="It begins as a draft that only members of the workspace can enter. Everything here can be changed later."
      submitText="Create application"
      isIncomplete={name.trim() === ''}
      send={() =>
        ask(
          api.POST('/api/applications', {
            params: { query: { workspaceId } },
            body: {
              name: name.trim(),
              // If no slug can be derived, the server chooses one.
              ...(shownSlug !== '' && { slug: shownSlug }),
              ...(returnUrls.length > 0 && { returnUrls }),
            },
          }),
        )
      }
      onDone={onDone}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <Field
            id="application-name"
            label="Name"
            autoFocus
            autocomplete="off"
            maxLength={100}
            hint="People see it on the sign-in page and in mails."
            value={name}
            error={errorOf('name')}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Field
            id="application-slug"
            label="Slug"
            autocomplete="off"
            autoCapitalize="none"
            spellcheck={false}
            maxLength={MAX_SLUG}
            hint="A short name for addresses, unique on this server."
            value={shownSlug}
            error={errorOf('slug')}
            onInput={({ currentTarget }) => setSlug(currentTarget.value)}
          />
          <TextArea
            id="application-urls"
            label="Return addresses (optional)"
            rows={2}
            value={urls}
            placeholder="https://shop.example.com/signed-in"
            hint="Where people may be sent after signing in, one a line."
            error={errorOf('returnUrls')}
            onInput={setUrls}
          />
        </>
      )}
    </FormDialog>
  );
}
