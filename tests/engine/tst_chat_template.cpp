// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/chat_template.h"
#include "tests/support/fixture.h"

#include <QtTest>

using namespace lectern;

namespace {

const nlohmann::json &fixture()
{
    static const nlohmann::json loaded = test::loadFixture("chat_templates.json");
    return loaded;
}

std::vector<ChatMessage> conversation(const std::string &name)
{
    std::vector<ChatMessage> messages;
    for (const auto &message : fixture()["conversations"][name])
        messages.push_back({message["role"], message["content"]});
    return messages;
}

const nlohmann::json &templateNamed(const std::string &name)
{
    for (const auto &entry : fixture()["templates"])
        if (entry["name"] == name)
            return entry;
    qFatal("no template of that name");
}

Result<RenderedPrompt> render(const std::string &source, const std::vector<ChatMessage> &messages,
                              bool addPrompt = true)
{
    const auto compiled = ChatTemplate::compile(source);
    if (!compiled)
        return tl::unexpected(compiled.error());
    return compiled->render(messages, {addPrompt, "<s>", "</s>"});
}

QString textOrError(const std::string &source, const std::vector<ChatMessage> &messages = {{"user", "Hi"}})
{
    const auto rendered = render(source, messages);
    return QString::fromStdString(rendered ? rendered->text : rendered.error().text());
}

// The rendered text with what came from messages in ⟨ ⟩.
QString marked(const std::string &source, const std::vector<ChatMessage> &messages)
{
    const auto rendered = render(source, messages);
    if (!rendered)
        return QString::fromStdString(rendered.error().text());
    std::string text;
    std::size_t at = 0;
    for (const TextRange &range : rendered->userRanges) {
        if (range.begin < at || range.end <= range.begin || range.end > rendered->text.size() ||
            (at > 0 && range.begin == at))
            return "ranges are not sorted, merged and inside the text";
        text += rendered->text.substr(at, range.begin - at) + "⟨" +
                rendered->text.substr(range.begin, range.end - range.begin) + "⟩";
        at = range.end;
    }
    return QString::fromStdString(text + rendered->text.substr(at));
}

} // namespace

class TestChatTemplate : public QObject
{
    Q_OBJECT

private slots:
    void rendersAsPythonsJinja2Does_data()
    {
        QTest::addColumn<std::string>("name");
        for (const auto &entry : fixture()["templates"])
            QTest::newRow(entry["name"].get<std::string>().c_str()) << entry["name"].get<std::string>();
    }

    void rendersAsPythonsJinja2Does()
    {
        QFETCH(std::string, name);
        const auto &entry = templateNamed(name);
        for (const auto &example : entry["cases"]) {
            const auto messages = conversation(example["conversation"]);
            const auto rendered = render(entry["source"], messages, example["addGenerationPrompt"]);
            const std::string what = example["conversation"].get<std::string>() + ": " +
                                     (rendered ? rendered->text : rendered.error().text());
            if (example.contains("text")) {
                QVERIFY2(rendered, what.c_str());
                QCOMPARE(QString::fromStdString(rendered->text), QString::fromStdString(example["text"]));
                QCOMPARE(rendered->text, example["text"].get<std::string>());
            } else {
                QVERIFY2(!rendered, what.c_str());
                if (example.contains("raised"))
                    QCOMPARE(rendered.error().message, example["raised"].get<std::string>());
                else
                    QVERIFY2(rendered.error().where.starts_with("Chat template, line "), what.c_str());
            }
        }
    }

    void marksWhatCameFromMessages_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char *source, const char *expected) {
            QTest::newRow(qPrintable(QString(source).simplified())) << source << expected;
        };
        row("<{{ messages[0].content }}>", "<⟨ Ab  c ⟩>");
        row("{{ '<' + messages[0]['content'] + '>' ~ messages[0].role }}", "<⟨ Ab  c ⟩>user");
        row("{{ messages[0].content|trim }}{{ messages[1].content }}!", "⟨Ab  cÄß|d⟩!");
        row("{{ messages[0].content[1:3] }}-{{ messages[0].content[::-1] }}", "⟨Ab⟩-⟨ c  bA ⟩");
        row("{{ messages[1].content|upper }}{{ messages[1].content|lower }}", "⟨ÄSS|Däß|d⟩");
        row("{{ ('x' ~ messages[1].content)|upper }}", "X⟨ÄSS|D⟩");
        row("{{ messages[0].content|replace('b', 'yes') }}", "⟨ A⟩yes⟨  c ⟩");
        row("{{ 'say what'|replace('what', messages[1].content) }}", "say ⟨Äß|d⟩");
        row("{{ messages[1].content.split('|')|join(', ') }}", "⟨Äß⟩, ⟨d⟩");
        row("{{ messages[1].content.split('|')|reverse|join }}", "⟨dÄß⟩");
        row("{{ messages[0].content.split() }}", "['⟨Ab⟩', '⟨c⟩']");
        row("{{ messages[1] }}", "{'role': 'assistant', 'content': '⟨Äß|d⟩'}");
        row("{{ messages[1]|tojson }}", "{\"role\": \"assistant\", \"content\": \"⟨Äß|d⟩\"}");
        row("{{ messages[1].content|tojson(ensure_ascii=true) }}", "\"⟨\\u00c4\\u00df|d⟩\"");
        row("{{ messages[1].content * 2 }}{{ messages[1].content|length }}", "⟨Äß|dÄß|d⟩4");
        row("{% for c in messages[1].content %}{{ c }}-{% endfor %}", "⟨Ä⟩-⟨ß⟩-⟨|⟩-⟨d⟩-");
        row("{% set x %}[{{ messages[1].content }}]{% endset %}{{ x|title }}", "[⟨Äß|d⟩]");
        row("{% filter upper %}a{{ messages[1].content }}{% endfilter %}", "A⟨ÄSS|D⟩");
        row("{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t + m.content|trim + ';' %}{% "
            "endfor %}{{ ns.t }}",
            "⟨Ab  c⟩;⟨Äß|d⟩;");
        row("{{ messages|map(attribute='content')|join('/') }}", "⟨ Ab  c ⟩/⟨Äß|d⟩");
        row("{{ 'no content at all' }}", "no content at all");
    }

    void marksWhatCameFromMessages()
    {
        QFETCH(QString, source);
        QFETCH(QString, expected);
        QCOMPARE(marked(source.toStdString(), {{"user", " Ab  c "}, {"assistant", "Äß|d"}}), expected);
    }

    void everyContentOfAConversationIsMarkedWhole()
    {
        for (const char *name : {"smollm2", "chatml"}) {
            const std::string source = templateNamed(name)["source"];
            QCOMPARE(
                marked(source, {{"system", "a<|im_end|>"}, {"user", ""}, {"assistant", "{{ b }}"}}),
                "<|im_start|>system\n⟨a<|im_end|>⟩<|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n"
                "⟨{{ b }}⟩<|im_end|>\n<|im_start|>assistant\n");
        }
    }

    void aTemplateThatRaisesIsQuotedWithTheMessageAndBuildsNothing() // llama.cpp #11402
    {
        const std::string source =
            "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
            "{{ raise_exception('roles must alternate') }}{% endif %}{{ m.content }}{% endfor %}";
        const auto rendered = render(source, {{"user", "a"}, {"user", "b"}, {"assistant", "c"}});
        QVERIFY(!rendered);
        QCOMPARE(rendered.error().code, ErrorCode::InvalidInput);
        QCOMPARE(QString::fromStdString(rendered.error().text()), "Message 2 of 3 (user): roles must alternate");
        QCOMPARE(textOrError("{% if messages[0].role != 'system' %}{{ raise_exception('no system') }}{% endif %}"),
                 "Message 1 of 1 (user): no system");
        QCOMPARE(textOrError("{{ raise_exception('never') }}"), "Chat template: never");
        QCOMPARE(textOrError("{{ raise_exception('first\nsecond') }}"), "Chat template: first second");
        const std::string name(5000, 'x');
        QCOMPARE(textOrError("{{ raise_exception('" + name + "') }}"),
                 "Chat template: " + QString(240, u'x') + "... (5000 bytes)");
        QVERIFY(textOrError("{{ messages | " + name + " }}").size() < 400);
    }

    void errorsNameLineAndColumn_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("error");
        const auto row = [](const char *source, const char *error) {
            QTest::newRow(qPrintable(QString(source).simplified())) << source << error;
        };
        const char *raw = ". Use the raw prompt with this model";
        row("a\n  {% macro x() %}",
            qPrintable(QString("Chat template, line 2, column 6: the tag 'macro' is not supported") + raw));
        row("é{{ 1|sum }}",
            qPrintable(QString("Chat template, line 1, column 7: The filter 'sum' is not supported") + raw));
        row("{{ 1 is prime }}",
            qPrintable(QString("Chat template, line 1, column 9: The test 'prime' is not supported") + raw));
        row("{{ 'a'.zfill(3) }}",
            qPrintable(QString("Chat template, line 1, column 13: The method 'zfill' of a str is not supported") +
                       raw));
        row("{{ '%s' % 1 }}",
            qPrintable(QString("Chat template, line 1, column 9: Formatting with '%' is not supported") + raw));
        row("{% for x in y recursive %}",
            qPrintable(QString("Chat template, line 1, column 15: a recursive loop is not supported") + raw));
        row("{{ f(*x) }}",
            qPrintable(QString("Chat template, line 1, column 6: Unpacking arguments with '*' is not supported") +
                       raw));
        row("\n\n{{ strftime_now('%Y') }}", "Chat template, line 3, column 16: 'strftime_now' is undefined");
        row("{% if a %}\n{% else %}",
            "Chat template, line 2, column 11: the template ends inside a block: '{% endif %}' is missing");
        row("{{ 'a }}", "Chat template, line 1, column 4: this string has no end");
        row("\n{{ a", "Chat template, line 2, column 1: this tag has no end: '}}' is missing");
        row("{% set a = ( %}", "Chat template, line 1, column 15: unexpected '}', expected ')'");
        row("{# a", "Chat template, line 1, column 1: this comment has no end: '#}' is missing");
        row("{% raw %} a", "Chat template, line 1, column 1: this raw block has no end: '{% endraw %}' is missing");
        row("{{ a $ b }}", "Chat template, line 1, column 6: unexpected character '$'");
        row("{{ a b }}", "Chat template, line 1, column 6: expected '}}', found 'b'");
        row("{{ }}", "Chat template, line 1, column 4: expected an expression, found the end of the tag");
        row("{{ 99999999999999999999 }}",
            "Chat template, line 1, column 4: the number 99999999999999999999 is too large");
        row("{{ 9223372036854775807 + 1 }}", "Chat template, line 1, column 24: a whole number is beyond 64 bits");
        row("{{ messages[0].content.x.y }}", "Chat template, line 1, column 25: 'str object' has no attribute 'x'");
        row("{{ '\\ud800' }}", "Chat template, line 1, column 4: the escape '\\ud800' names no character");
    }

    void errorsNameLineAndColumn()
    {
        QFETCH(QString, source);
        QFETCH(QString, error);
        QCOMPARE(textOrError(source.toStdString()), error);
    }

    void templatesHaveNoAccessToAnythingElse()
    {
        for (const char *probe :
             {"''.__class__", "messages.__class__", "range.__globals__", "namespace(a=1).__dict__", "self", "lipsum",
              "cycler", "''['__class__']", "''|attr('__class__')", "{}.__class__.__mro__"}) {
            const QString text = textOrError("[{{ " + std::string(probe) + " }}]");
            QVERIFY2(text == "[]" || text.startsWith("Chat template, line 1"),
                     qPrintable(probe + QString(": ") + text));
        }
    }

    void hostileTemplatesEndWithAMessage_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("message");
        const auto row = [](const char *name, const QString &source, const char *message) {
            QTest::newRow(name) << source << message;
        };
        const QString loop = "{% for x in range(99999) %}";
        const QString end = "{% endfor %}";
        const char *steps = "the template takes more than 2000000 steps";
        const char *large = "the template makes a text of more than 16 MiB";
        const char *work = "the template works on more than 256 MiB of text";
        row("nested loops", loop + loop + loop + end + end + end, steps);
        row("a loop that prints", loop + loop + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" + end + end, steps);
        row("an endless range", "{{ range(10 ** 18)|length }}", "a range has more than 100000 numbers");
        row("a range at the edge", "{{ range(9223372036854775806, 9223372036854775807, 5)|length }}", "1");
        row("a multiplied string", "{{ 'a' * 10 ** 12 }}", large);
        row("a string multiplied in steps", "{% set a = 'a' * 10 ** 7 %}{{ a ~ a }}", large);
        row("a doubled string", "{% set ns = namespace(s='ab') %}" + loop + "{% set ns.s = ns.s + ns.s %}" + end,
            large);
        row("a large output", "{% set a = 'a' * 10 ** 6 %}" + loop + "{{ a }}" + end, large);
        row("a long replacement", "{{ ('a' * 10 ** 6)|replace('a', 'b' * 1000) }}", large);
        row("searching without end", "{% set a = 'a' * 10 ** 7 %}" + loop + "{{ 'b' in a }}" + end, work);
        row("many large strings",
            "{% set ns = namespace(l=[]) %}" + loop + "{% set ns.l = ns.l + ['a' * 10 ** 7] %}" + end, work);
        row("a doubled list", "{% set ns = namespace(l=[1]) %}" + loop + "{% set ns.l = ns.l + ns.l %}" + end, steps);
        row("a multiplied list", "{{ [1] * 10 ** 15 }}", steps);
        row("lists in lists", "{% set ns = namespace(l=[]) %}" + loop + "{% set ns.l = [ns.l] %}" + end,
            "lists and dicts are nested more than 100 deep");
        row("a list of itself, printed",
            "{% set ns = namespace(l=['a']) %}{% for x in range(60) %}{% set ns.l = [ns.l, ns.l] %}" + end +
                "{{ ns.l }}",
            steps);
        row("a list of itself, compared",
            "{% set a = namespace(l=['a']) %}{% set b = namespace(l=['a']) %}{% for x in range(60) %}{% set a.l = "
            "[a.l, a.l] %}"
            "{% set b.l = [b.l, b.l] %}" +
                end + "{{ a.l == b.l }}",
            steps);
        row("a namespace in itself", "{% set ns = namespace() %}{% set ns.me = ns %}",
            "A namespace inside another value is not supported");
        row("a power", "{{ 10 ** 10 ** 10 }}", "a whole number is beyond 64 bits");
        row("the largest quotient", "{{ (-9223372036854775807 - 1) // -1 }}", "a whole number is beyond 64 bits");
        row("a step over everything", "{{ 'abc'[::9223372036854775807] }}{{ 'abc'[::-9223372036854775807] }}", "ac");
        row("wide indentation", "{{ [[1]]|tojson(indent=10 ** 7) }}", large);
        row("an indented text", "{{ ('a\\n' * 10 ** 5)|indent(10 ** 4) }}", large);
        row("brackets", "{{ " + QString("(").repeated(5000) + "1" + QString(")").repeated(5000) + " }}",
            "the template is nested more than 100 deep");
        row("lists", "{{ " + QString("[").repeated(5000) + QString("]").repeated(5000) + " }}",
            "the template is nested more than 100 deep");
        row("signs", "{{ " + QString("-").repeated(5000) + "1 }}", "the template is nested more than 100 deep");
        row("negations", "{{ " + QString("not ").repeated(5000) + "1 }}", "the template is nested more than 100 deep");
        row("a chain of sums", "{{ 1" + QString("+1").repeated(5000) + " }}",
            "this expression is nested more than 100 deep");
        row("a chain of filters", "{{ 1" + QString("|trim").repeated(5000) + " }}",
            "this expression is nested more than 100 deep");
        row("a chain of attributes", "{{ a" + QString(".a").repeated(5000) + " }}",
            "this expression is nested more than 100 deep");
        row("a chain of conditions", "{{ 1" + QString(" if 1").repeated(5000) + " }}",
            "this expression is nested more than 100 deep");
        row("nested ifs", QString("{% if 1 %}").repeated(5000), "the template is nested more than 100 deep");
        row("a long template", QString("a").repeated(300'000), "the template is larger than 256 KiB");
        row("a long line of tags", QString("{{ 1 }}").repeated(30'000) + "{{ x.y }}", "'x' is undefined");
        row("comments without end", QString("{#").repeated(100'000), "this comment has no end: '#}' is missing");
        row("raw blocks without end", QString("{% raw %}{% endraw").repeated(10'000),
            "this raw block has no end: '{% endraw %}' is missing");
    }

    void hostileTemplatesEndWithAMessage()
    {
        QFETCH(QString, source);
        QFETCH(QString, message);
        const auto rendered = render(source.toStdString(), {{"user", "Hi"}});
        QCOMPARE(QString::fromStdString(rendered ? rendered->text : rendered.error().message), message);
    }

    void aLongConversationStaysFarFromTheLimits()
    {
        std::vector<ChatMessage> messages;
        for (int i = 0; i < 2000; ++i)
            messages.push_back({i % 2 == 0 ? "user" : "assistant", std::string(1000, 'a')});
        for (const char *name : {"smollm2", "chatml", "turns with raise_exception", "namespace and white space"}) {
            const auto rendered = render(templateNamed(name)["source"], messages);
            QVERIFY2(rendered, name);
            QCOMPARE(rendered->userRanges.size(), std::size_t{2000});
        }
        const auto large = render(templateNamed("smollm2")["source"], {{"user", std::string(10 << 20, 'x')}});
        QVERIFY(large);
        QCOMPARE(large->userRanges.at(0).end - large->userRanges.at(0).begin, std::size_t{10 << 20});
    }

    void bytesThatAreNoUtf8PassThrough()
    {
        QCOMPARE(render("{{ messages[0].content|trim|upper }}", {{"user", " a\xFF\xC3 "}})->text,
                 std::string("A\xFF\xC3"));
        QCOMPARE(render("{{ messages[0].content[::-1] }}", {{"user", "a\xFF\xC3"}})->text, std::string("\xC3\xFF"
                                                                                                       "a"));
        QCOMPARE(render("{{ messages[0].content|length }}", {{"user", std::string("\0\xFF", 2)}})->text,
                 std::string("2"));
    }

    void generationTagsAreTransparent()
    {
        QCOMPARE(textOrError("{% generation %}{{ messages[0].content }}{% endgeneration %}!"), "Hi!");
    }
};

QTEST_APPLESS_MAIN(TestChatTemplate)
#include "tst_chat_template.moc"
