/** Form for an endpoint: URL, events and description. */
import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import type { Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { EventChoice } from './event-choice.tsx';
import type { Webhook, WebhookInput } from './webhook-calls.ts';

interface EndpointFormProps<T> {
  readonly of?: Webhook;
  readonly send: (input: WebhookInput) => Promise<Outcome<T>>;
  readonly onDone: (webhook: T) => void;
  readonly onClose: () => void;
}

export function EndpointForm<T>({ of: webhook, send, onDone, onClose }: EndpointFormProps<T>) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [events, setEvents] = useState<string[]>(webhook?.events ?? ['*']);
  const [description, setDescription] = useState(webhook?.description ?? '');
  return (
    <FormDialog
      id="webhook-form"
      title={webhook ? 'Change webhook' : 'Add webhook'}
      submitText={webhook ? 'Save changes' : 'Add webhook'}
      send={() => send({ url: url.trim(), events, description: description.trim() || null })}
      onDone={onDone}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <Field
            id="webhook-url"
            label="Address"
            placeholder="https://shop.example.com/webhooks/gatehouse"
            autoFocus
            autocomplete="off"
            autoCapitalize="none"
            spellcheck={false}
            value={url}
            hint={
              webhook
                ? 'What waits is sent there too.'
                : 'Events are sent to it by POST. It answers 2xx within 15 seconds.'
            }
            error={errorOf('url')}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
          <Field
            id="webhook-description"
            label="Description"
            placeholder="Optional"
            autocomplete="off"
            value={description}
            error={errorOf('description')}
            onInput={({ currentTarget }) => setDescription(currentTarget.value)}
          />
          <EventChoice chosen={events} error={errorOf('events')} onChange={setEvents} />
        </>
      )}
    </FormDialog>
  );
}
