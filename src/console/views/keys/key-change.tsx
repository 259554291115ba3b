/** Form for a key's name, expiry and limits. */
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { AS_IT_IS, ExpiryField, expiryTime } from './expiry-field.tsx';
import type { Key, KeyCalls } from './key-calls.ts';
import { givenLimits, LimitFields, typedLimits } from './limit-fields.tsx';

interface KeyChangeProps {
  readonly of: Key;
  readonly calls: KeyCalls;
  readonly onDone: (key: Key) => unknown;
}

export function KeyChange({ of: key, calls, onDone }: KeyChangeProps) {
  const form = useForm({ name: key.name, expiry: AS_IT_IS, limits: typedLimits(key.rateLimits) });
  const { name, expiry, limits } = form.values;
  const expiresAt = expiryTime(expiry);
  return (
    <FormDialog
      id="key-change"
      title="Edit key"
      lead="Its token stays the same. New limits count from the next call on."
      submitText="Save changes"
      form={form}
      fields={[
        { kind: 'text', id: 'key-name', name: 'name', label: 'Name' },
        {
          kind: 'custom',
          name: 'expiry',
          render: (props) => <ExpiryField {...props} present={key.expiresAt} />,
        },
        { kind: 'custom', name: 'limits', render: (props) => <LimitFields {...props} /> },
      ]}
      send={() =>
        calls.update(key.id, {
          name: name.trim(),
          rateLimits: givenLimits(limits),
          ...(expiresAt !== undefined && { expiresAt }),
        })
      }
      onDone={onDone}
    />
  );
}
