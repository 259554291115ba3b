/** A setting with few choices, changed by a button that first asks. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Action } from '../../components/action.tsx';
import { type Choice, ChooseOne } from '../../components/choices.tsx';
import { Panel } from '../../components/panel.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useRights } from '../../console-context.tsx';

interface ChoicePanelProps<Value extends string> {
  /** Ids: `<id>`, `<id>-choice` and `change-<id>`. */
  readonly id: string;
  readonly title: string;
  readonly lead?: string | undefined;
  readonly label: string;
  readonly choices: readonly Choice<Value>[];
  readonly current: Value;
  readonly changeText: string;
  readonly dialog: (chosen: Value) => ComponentChildren;
}

export function ChoicePanel<Value extends string>(props: ChoicePanelProps<Value>) {
  const { id, title, lead, label, choices, current, changeText } = props;
  const { canWrite } = useRights();
  const [chosen, setChosen] = useState(current);
  const { open, dialog } = useDialog(() => props.dialog(chosen));
  const isSame = chosen === current;
  return (
    <Panel id={id} title={title} lead={lead}>
      <ChooseOne
        id={`${id}-choice`}
        label={label}
        choices={choices}
        chosen={chosen}
        isDisabled={!canWrite}
        onChange={setChosen}
      />
      <Action id={`change-${id}`} look={isSame ? 'small' : 'primary'} isDisabled={isSame} onClick={open}>
        {changeText}
      </Action>
      {dialog}
    </Panel>
  );
}
