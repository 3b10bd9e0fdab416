import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  type DocumentOptions,
  keptDays,
  type Memory,
  type Message,
  monthlyIncome,
  readDocument,
} from "@income-events/subscriber";

/** A user's income in one month and currency; amounts are decimal strings. */
export type Income = Readonly<Record<"user" | "month" | "currency" | "gross" | "net", string>> & {
  readonly loanId: string | null;
};

type Values = Readonly<Record<string, string | number | null>>;

/** Each user's income by month, with the user's loan id, in SQLite. */
export class IncomeBook {
  readonly #database: DatabaseSync;

  /** @param file created if it does not exist */
  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(readFileSync(new URL("schema.sql", import.meta.url), "utf8"));
    for (const table of ["handled", "newest", "erased"])
      this.#run(`DELETE FROM ${table} WHERE until <= :now`, { now: Date.now() });
  }

  /** The reader's memory, in the same file. */
  readonly memory: Memory = {
    recall: async (id, series = "") => ({
      isHandled: this.#kept("SELECT id FROM handled WHERE id = :key", id) !== undefined,
      newest: this.#kept("SELECT sequence FROM newest WHERE series = :key", series),
    }),
    remember: async ({ id, place }) => {
      const until = keptUntil();
      if (place !== undefined)
        this.#run(
          `INSERT INTO newest VALUES (:series, :sequence, :until) ON CONFLICT DO UPDATE
             SET sequence = excluded.sequence, until = excluded.until
             WHERE excluded.sequence > sequence OR until <= :now`,
          { ...place, until, now: Date.now() },
        );
      this.#run("INSERT OR REPLACE INTO handled VALUES (:id, :until)", { id, until });
    },
  };

  /**
   * Stores a message's content.
   * @returns the current income of users whom it can change
   */
  async handle(message: Message, options: DocumentOptions = {}): Promise<readonly Income[]> {
    const document = await readIncome(message, options);
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const users = this.#keep(message, document);
      for (const user of users) this.#addUp(user);
      this.#database.exec("COMMIT");
      return users.flatMap((user) => this.incomeOf(user));
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  incomeOf(user: string): readonly Income[] {
    const rows = this.#all("SELECT * FROM income WHERE user = :user ORDER BY month, currency", { user });
    return rows.map(({ month, currency, loan_id, gross, net }) => ({
      ...{ user, month: String(month), currency: String(currency) },
      ...{ loanId: loan_id === null ? null : String(loan_id), gross: String(gross), net: String(net) },
    }));
  }

  close(): void {
    this.#database.close();
  }

  #keep({ type, subject, sequence, data }: Message, document: string | null | undefined): readonly string[] {
    const account = "accountId" in data ? data.accountId : undefined;
    const user = "userId" in data ? data.userId : undefined;
    if (type === "user.erased" || type === "account.erased") return this.#erase(account, user);
    if (this.#isErased(`account/${account}`) || this.#isErased(`user/${user}`)) return [];
    const before = this.#userOf(account);
    if (user !== undefined) this.#run("INSERT OR IGNORE INTO users (user) VALUES (:user)", { user });
    if (account !== undefined)
      this.#run(
        `INSERT INTO accounts (account, user) VALUES (:account, :user) ON CONFLICT DO UPDATE
           SET user = excluded.user WHERE user IS NULL`,
        { account, user: user ?? null },
      );
    if (user !== undefined && "attributesSequence" in data && data.attributesSequence !== undefined)
      this.#run(
        `UPDATE users SET attributes_sequence = :attributesSequence, loan_id = :loanId
           WHERE user = :user AND attributes_sequence < :attributesSequence`,
        { user, attributesSequence: data.attributesSequence, loanId: data.attributes?.loanId ?? null },
      );
    if ("deleted" in data && account !== undefined)
      this.#run(
        `UPDATE accounts SET sequence = :sequence, deleted = :deleted, user = COALESCE(:user, user)
           WHERE account = :account AND sequence <= :sequence`,
        { account, user: user ?? null, sequence, deleted: Number(data.deleted) },
      );
    else if ("deleted" in data && user !== undefined)
      this.#run(
        "UPDATE users SET sequence = :sequence, deleted = :deleted WHERE user = :user AND sequence <= :sequence",
        { user, sequence, deleted: Number(data.deleted) },
      );
    if (document !== undefined && account !== undefined)
      this.#run(
        `INSERT INTO documents VALUES (:subject, :account, :sequence, :document) ON CONFLICT DO UPDATE
           SET sequence = excluded.sequence, document = excluded.document WHERE excluded.sequence >= sequence`,
        { subject, account, sequence, document },
      );
    return [...new Set([before, this.#userOf(account), user])].filter((each) => each !== undefined);
  }

  #erase(account: string | undefined, user: string | undefined): readonly string[] {
    const [column, id = ""] = user === undefined ? ["account", account] : ["user", user];
    const users = [user ?? this.#userOf(account)].filter((each) => each !== undefined);
    const erased = { owner: `${column}/${id}`, until: keptUntil() };
    this.#run("INSERT OR REPLACE INTO erased VALUES (:owner, :until)", erased);
    const accounts = `SELECT account FROM accounts WHERE ${column} = :id`;
    this.#run(`DELETE FROM documents WHERE account IN (${accounts})`, { id });
    this.#run(`DELETE FROM accounts WHERE ${column} = :id`, { id });
    if (user !== undefined) this.#run("DELETE FROM users WHERE user = :user", { user });
    return users;
  }

  #addUp(user: string): void {
    const documents = this.#all(
      `SELECT document FROM documents JOIN accounts USING (account) JOIN users USING (user)
         WHERE user = :user AND NOT accounts.deleted AND NOT users.deleted AND document IS NOT NULL`,
      { user },
    );
    this.#run("DELETE FROM income WHERE user = :user", { user });
    const incomes = monthlyIncome(documents.map(({ document }) => JSON.parse(String(document))));
    for (const { documents: hrefs, ...income } of incomes)
      this.#run(
        `INSERT INTO income VALUES (:user, :month, :currency, (SELECT loan_id FROM users WHERE user = :user),
           :gross, :net, :payments, :documents)`,
        { user, ...income, documents: JSON.stringify(hrefs) },
      );
  }

  #isErased(owner: string): boolean {
    return this.#kept("SELECT owner FROM erased WHERE owner = :key", owner) !== undefined;
  }

  #userOf(account = ""): string | undefined {
    return this.#text("SELECT user FROM accounts WHERE account = :account", { account });
  }

  /** Returns a stored text. */
  #kept(sql: string, key: string): string | undefined {
    return this.#text(`${sql} AND until > :now`, { key, now: Date.now() });
  }

  #run(sql: string, values: Values): void {
    this.#database.prepare(sql).run(values);
  }

  #all(sql: string, values: Values) {
    return this.#database.prepare(sql).all(values);
  }

  /** The first value of the first row; undefined if it is null. */
  #text(sql: string, values: Values): string | undefined {
    const [value] = Object.values(this.#all(sql, values)[0] ?? {});
    return typeof value === "string" ? value : undefined;
  }
}

/**
 * The URL of an income document and the fields that the sums need, as JSON: null if the provider no longer
 * has one, undefined if the message announces none.
 */
async function readIncome(message: Message, options: DocumentOptions): Promise<string | null | undefined> {
  if (message.type !== "data.updated" || message.data.endpoint !== "income") return undefined;
  const document = await readDocument(message, options);
  if (document.type === "replaced") return undefined; // a newer version has its own message
  if (document.type === "gone") return null;
  const payments = document.json("income").data;
  const data = payments.map(({ id, paid_at, currency, gross, net }) => ({
    id,
    paid_at,
    currency,
    gross,
    net,
  }));
  return JSON.stringify({ href: message.data.document?.href, data });
}

function keptUntil(): number {
  return Date.now() + keptDays * 86_400_000;
}
