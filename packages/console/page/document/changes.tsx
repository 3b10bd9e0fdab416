import type { DocumentChanges } from "@income-events/cli/documents/document-changes.ts";
import { cellText } from "@income-events/cli/documents/tabular.ts";
import { number, visible } from "../format.ts";
import { Table, Wide } from "../parts/data.tsx";
import { Panel, Time } from "../parts/panel.tsx";

type Props = { readonly of: DocumentChanges | null; readonly isRevealed: boolean };

/** What changed in a document against the version before it. */
export function Changes({ of, isRevealed }: Props) {
  return (
    <Panel title={isRevealed ? "What changed" : "What changed, masked"}>
      {of === null ? (
        <p class="empty">
          No version before it is kept. The setting retention.documentVersionsDays says for how long versions
          are.
        </p>
      ) : (
        <Against of={of} />
      )}
    </Panel>
  );
}

function Against({ of: { observedAt, count, changes } }: { readonly of: DocumentChanges }) {
  if (count === 0)
    return (
      <p>
        No value differs from the version of <Time at={observedAt} />: only the order or the spacing of the
        text does.
      </p>
    );
  return (
    <>
      <p>
        {number(count)} {count === 1 ? "change" : "changes"} against the version of <Time at={observedAt} />
        {count > changes.length ? `; the first ${number(changes.length)} are shown` : ""}.
      </p>
      <Wide label="Changes" isLong>
        <Table
          columns={["Where", "What", "Before", "After"]}
          classes={{ Where: "id" }}
          rows={changes.map(({ path, is, before, after }) => [
            path === "" ? "all of it" : visible(path),
            is,
            visible(cellText(before)),
            visible(cellText(after)),
          ])}
        />
      </Wide>
    </>
  );
}
