import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { EnvelopeFields, NO_ENVELOPE } from './envelope-fields.tsx';
import { ExpiryField, expiryTime, NEVER } from './expiry-field.tsx';
import type { Key, KeyCalls, KeyOwner, NewKey } from './key-calls.ts';
import { ACCESS_WORDS } from './key-state.ts';
import { DEFAULT_LIMITS, givenLimits, LimitFields, typedLimits } from './limit-fields.tsx';
import { ReachField } from './reach-field.tsx';

interface KeyFormProps {
  readonly owner: KeyOwner;
  readonly calls: KeyCalls;
  readonly onDone: (key: NewKey) => unknown;
}

export function KeyForm({ owner, calls, onDone }: KeyFormProps) {
  const form = useForm({
    name: '',
    access: 'read' as Key['access'],
    envelope: NO_ENVELOPE,
    reach: null as string[] | null,
    expiry: NEVER,
    limits: typedLimits(DEFAULT_LIMITS),
  });
  const { name, access, envelope, reach, expiry, limits } = form.values;
  const words = ACCESS_WORDS[owner.kind];
  const isOfWorkspace = owner.kind === 'workspace';
  return (
    <FormDialog
      id="key-form"
      title={isOfWorkspace ? 'Create workspace key' : 'Create API key'}
      lead="For a server or a tool. It never belongs in a browser or an app, where everybody could read it."
      submitText="Create key"
      form={form}
      fields={[
        {
          kind: 'text',
          id: 'key-name',
          name: 'name',
          label: 'Name',
          placeholder: 'Shop backend',
          hint: 'Where it will be used, so that you recognise it later.',
        },
        {
          kind: 'choice',
          id: 'key-access',
          name: 'access',
          label: 'Access',
          choices: [
            { value: 'read', label: 'Read', detail: words.read },
            { value: 'full', label: 'Full', detail: words.full },
          ],
        },
        isOfWorkspace && { kind: 'custom', name: 'reach', render: (props) => <ReachField {...props} /> },
        { kind: 'custom', name: 'expiry', render: (props) => <ExpiryField {...props} /> },
        { kind: 'custom', name: 'limits', render: (props) => <LimitFields {...props} /> },
        !isOfWorkspace && {
          kind: 'custom',
          name: 'envelope',
          render: (props) => <EnvelopeFields {...props} applicationId={owner.id} />,
        },
      ]}
      send={() =>
        calls.create({
          name: name.trim(),
          access,
          expiresAt: expiryTime(expiry) ?? null,
          rateLimits: givenLimits(limits),
          ...(isOfWorkspace ? { applicationIds: reach } : envelope),
        })
      }
      onDone={onDone}
    />
  );
}
