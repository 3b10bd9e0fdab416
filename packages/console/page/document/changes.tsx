import type { DocumentChanges } from "@income-events/cli/documents/document-changes.ts";
import { cellText } from "@income-events/cli/documents/tabular.ts";
import { number, visible } from "../format.ts";
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: where it is wider than the screen, keys scroll it */}
      <section class="wide records" tabIndex={0} aria-label="Changes">
        <table>
          <thead>
            <tr>
              <th scope="col">Where</th>
              <th scope="col">What</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(({ path, is, before, after }) => (
              <tr key={is + path}>
                <th scope="row" class="id">
                  {path === "" ? "all of it" : visible(path)}
                </th>
                <td>{is}</td>
                <td>{visible(cellText(before))}</td>
                <td>{visible(cellText(after))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}
