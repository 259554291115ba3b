/** Form for creating a key. */
import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import { ChooseOne } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { type Envelope, EnvelopeFields, NO_ENVELOPE } from './envelope-fields.tsx';
import { type Expiry, ExpiryField, expiryTime, NEVER } from './expiry-field.tsx';
import type { Key, KeyCalls, KeyOwner, NewKey } from './key-calls.ts';
import { ACCESS_WORDS } from './key-state.ts';
import { DEFAULT_LIMITS, givenLimits, LimitFields, typedLimits } from './limit-fields.tsx';
import { ReachField } from './reach-field.tsx';

interface KeyFormProps {
  readonly owner: KeyOwner;
  readonly calls: KeyCalls;
  readonly onDone: (key: NewKey) => void;
  readonly onClose: () => void;
}

export function KeyForm({ owner, calls, onDone, onClose }: KeyFormProps) {
  const [name, setName] = useState('');
  const [access, setAccess] = useState<Key['access']>('read');
  const [envelope, setEnvelope] = useState<Envelope>(NO_ENVELOPE);
  const [reach, setReach] = useState<string[] | null>(null);
  const [expiry, setExpiry] = useState<Expiry>(NEVER);
  const [limits, setLimits] = useState(typedLimits(DEFAULT_LIMITS));
  const words = ACCESS_WORDS[owner.kind];
  const isOfWorkspace = owner.kind === 'workspace';
  return (
    <FormDialog
      id="key-form"
      title={isOfWorkspace ? 'Create workspace key' : 'Create API key'}
      lead="For a server or a tool. It never belongs into a browser or an app, where everybody could read it."
      submitText="Create key"
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
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <Field
            id="key-name"
            label="Name"
            placeholder="Shop backend"
            autoFocus
            autocomplete="off"
            value={name}
            hint="Where it will be used, so that you know it later."
            error={errorOf('name')}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <ChooseOne
            id="key-access"
            label="Access"
            chosen={access}
            choices={[
              { value: 'read', label: 'Read', detail: words.read },
              { value: 'full', label: 'Full', detail: words.full },
            ]}
            onChange={setAccess}
          />
          {isOfWorkspace && <ReachField reach={reach} error={errorOf('applicationIds')} onChange={setReach} />}
          <ExpiryField expiry={expiry} error={errorOf('expiresAt')} onChange={setExpiry} />
          <LimitFields limits={limits} errorOf={errorOf} onChange={setLimits} />
          {!isOfWorkspace && (
            <EnvelopeFields applicationId={owner.id} envelope={envelope} errorOf={errorOf} onChange={setEnvelope} />
          )}
        </>
      )}
    </FormDialog>
  );
}
