/** Applications of the workspace that a key can access. */
import { FieldError } from '../../../pages/components/field.tsx';
import { ChooseMany, ChooseOne } from '../../components/choices.tsx';
import type { CustomProps } from '../../components/form-fields.tsx';
import { useConsole } from '../../console-context.tsx';

/** Null stands for all applications, including future ones. */
export function ReachField({ value: reach, errorOf, set }: CustomProps<string[] | null>) {
  const { applications, workspace } = useConsole();
  const own = applications.filter(({ workspaceId }) => workspaceId === workspace.id);
  return (
    <>
      <ChooseOne
        id="key-reach"
        label="Reaches"
        chosen={reach === null ? 'all' : 'some'}
        choices={[
          { value: 'all', label: 'The whole workspace', detail: 'Every application, including future ones.' },
          {
            value: 'some',
            label: 'Some applications',
            detail: 'Only those chosen here, and nothing of the workspace itself.',
          },
        ]}
        onChange={(chosen) => set(chosen === 'all' ? null : [])}
      />
      {reach !== null && (
        <div class="choices-long">
          <ChooseMany
            id="key-applications"
            label="Applications"
            choices={own.map(({ id, name, stage }) => ({
              value: id,
              label: <span dir="auto">{name}</span>,
              detail: stage,
            }))}
            chosen={reach}
            none="This workspace has no applications yet."
            onChange={set}
          />
        </div>
      )}
      <FieldError id="key-reach" error={errorOf('applicationIds')} />
    </>
  );
}
