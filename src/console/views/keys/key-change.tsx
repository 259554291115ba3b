/** Form for a key's name, expiry and limits. */
import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { AS_IT_IS, type Expiry, ExpiryField, expiryTime } from './expiry-field.tsx';
import type { Key, KeyCalls } from './key-calls.ts';
import { givenLimits, LimitFields, typedLimits } from './limit-fields.tsx';

interface KeyChangeProps {
  readonly of: Key;
  readonly calls: KeyCalls;
  readonly onDone: (key: Key) => void;
  readonly onClose: () => void;
}

export function KeyChange({ of: key, calls, onDone, onClose }: KeyChangeProps) {
  const [name, setName] = useState(key.name);
  const [expiry, setExpiry] = useState<Expiry>(AS_IT_IS);
  const [limits, setLimits] = useState(typedLimits(key.rateLimits));
  const expiresAt = expiryTime(expiry);
  return (
    <FormDialog
      id="key-change"
      title="Change key"
      lead="Its token stays the same. New limits count from the next call on."
      submitText="Save changes"
      send={() =>
        calls.update(key.id, {
          name: name.trim(),
          rateLimits: givenLimits(limits),
          ...(expiresAt !== undefined && { expiresAt }),
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
            autoFocus
            autocomplete="off"
            value={name}
            error={errorOf('name')}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <ExpiryField expiry={expiry} present={key.expiresAt} error={errorOf('expiresAt')} onChange={setExpiry} />
          <LimitFields limits={limits} errorOf={errorOf} onChange={setLimits} />
        </>
      )}
    </FormDialog>
  );
}
