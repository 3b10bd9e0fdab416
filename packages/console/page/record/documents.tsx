import type { DocumentHistory } from "@income-events/cli/documents/document-history.ts";
import { useLoaded } from "../api.ts";
import { Versions } from "../document/document-page.tsx";
import { Panel } from "../parts/panel.tsx";

type Props = { readonly kind: string; readonly id: string };

/** The documents of a subject by endpoint, a user's with those of its accounts, each with the versions that are kept. */
export function Documents({ kind, id }: Props) {
  const { data, error } = useLoaded<{ readonly documents: readonly DocumentHistory[] }>(
    `/api/documents?${new URLSearchParams({ kind, id })}`,
  );
  if (data?.documents.length === 0) return null;
  return (
    <Panel title="Documents" error={error}>
      {data === undefined && error === undefined && <p class="quiet">Looking for them…</p>}
      <ul class="openable">
        {(data?.documents ?? []).map((document) => {
          const { subject, endpoint, dates = "", versions } = document;
          const others = versions.length - 1;
          return (
            <li key={subject.id + endpoint + dates}>
              <details>
                <summary>
                  <b>{endpoint}</b> {dates.replace("..", "–")}{" "}
                  {subject.id !== id && <span class="id">{subject.id}</span>}{" "}
                  {others > 0 && <span class="tag">{others === 1 ? "1 before" : `${others} before`}</span>}
                </summary>
                <Versions of={document} />
              </details>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
