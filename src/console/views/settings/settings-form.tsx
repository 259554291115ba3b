/** Settings form: disabled without the right to write; shows its buttons when there are changes. */
import type { ComponentChildren } from 'preact';
import { Button } from '../../../pages/components/button.tsx';
import { useRights } from '../../rights.tsx';
import type { Draft } from './use-draft.ts';

interface SettingsFormProps {
  readonly id: string;
  readonly draft: Pick<Draft<object>, 'isChanged' | 'isSaving' | 'save' | 'discard' | 'elsewhere'>;
  readonly children: ComponentChildren;
}

export function SettingsForm({ id, draft, children }: SettingsFormProps) {
  const { canWrite, whyNot } = useRights();
  return (
    <form
      id={id}
      class="settings-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void draft.save();
      }}
    >
      <fieldset disabled={!canWrite} title={whyNot}>
        {children}
      </fieldset>
      <p class="field-error" role="alert" id={`${id}-failure`}>
        {draft.elsewhere()}
      </p>
      {draft.isChanged && (
        <div class="save-bar">
          <span class="fine">Not saved yet</span>
          <Button look="plain" id={`${id}-discard`} onClick={draft.discard}>
            Discard
          </Button>
          <Button type="submit" id={`${id}-save`} aria-busy={draft.isSaving ? 'true' : undefined}>
            Save
          </Button>
        </div>
      )}
    </form>
  );
}
