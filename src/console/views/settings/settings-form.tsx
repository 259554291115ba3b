/** Settings form: disabled without the right to write; shows its buttons when there are changes. */
import { Button } from '../../../pages/components/button.tsx';
import { type FormField, formFields } from '../../components/form-fields.tsx';
import { useRights } from '../../console-context.tsx';
import type { Draft } from './use-draft.ts';

interface SettingsFormProps<Values extends object> {
  readonly id: string;
  readonly draft: Draft<Values>;
  readonly fields: readonly FormField<Values>[];
}

export function SettingsForm<Values extends object>({ id, draft, fields }: SettingsFormProps<Values>) {
  const { canWrite, whyNot } = useRights();
  const shownFields = formFields(draft, fields, draft.errorOf);
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
        {shownFields}
      </fieldset>
      <p class="field-error" role="alert" id={`${id}-failure`}>
        {draft.formError()}
      </p>
      {draft.isChanged && (
        <div class="save-bar">
          <span class="fine">Not saved yet</span>
          <Button look="plain" id={`${id}-discard`} onClick={draft.discard}>
            Discard
          </Button>
          <Button type="submit" id={`${id}-save`} isBusy={draft.isSaving}>
            Save
          </Button>
        </div>
      )}
    </form>
  );
}
