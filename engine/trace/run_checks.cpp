// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/run_checks.h"

#include "engine/base/utf8.h"
#include "engine/trace/first_problem.h"
#include "engine/trace/names.h"
#include "engine/trace/pass_checks.h"
#include "engine/trace/prompt_tokens.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace lectern {

namespace {

class Checker : private FirstProblem
{
public:
    explicit Checker(const RunRecord &record)
        : m_record(record)
    {
    }

    std::optional<Error> check()
    {
        checkHead();
        checkPrompt();
        checkPhases();
        checkChunks();
        checkOutput();
        checkOutputText();
        checkKv();
        if (!m_error)
            m_error = findPassContradiction(m_record);
        return std::move(m_error);
    }

private:
    void checkHead();
    void checkPrompt();
    void checkPhases();
    void checkChunks();
    void checkOutput();
    void checkOutputText();
    void checkKv();

    const RunRecord &m_record;
};

// "2025-01-02T03:04:05Z"
bool isUtcTime(std::string_view text)
{
    constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
    if (text.size() != kShape.size())
        return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (kShape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != kShape[i])
            return false;
    const auto number = [text](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
    return number(5) >= 1 && number(5) <= 12 && number(8) >= 1 && number(8) <= 31 && number(11) < 24 &&
           number(14) < 60 && number(17) <= 60; // a leap second
}

bool isSha256(std::string_view text)
{
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void Checker::checkHead()
{
    if (!m_record.createdUtc.empty() && !isUtcTime(m_record.createdUtc))
        refuse("createdUtc", "is \"" + printableText(m_record.createdUtc) +
                                 "\", expected a time like 2025-01-02T03:04:05Z or nothing");
    if (!m_record.model.sha256.empty() && !isSha256(m_record.model.sha256))
        refuse("model.sha256",
               "is \"" + printableText(m_record.model.sha256) + "\", expected 64 hexadecimal digits or nothing");
}

// Tokens are in the order of the text; several may stand for parts of one character, and between them some of it may be
// left out.
void Checker::checkPrompt()
{
    const std::vector<TokenRecord> &tokens = m_record.promptTokens;
    const std::size_t textBytes = m_record.promptText.size();
    const bool areBytes = isByteLevel(m_record.model.tokenizer);
    std::size_t begin = 0;
    std::size_t end = 0;
    for (std::size_t i = 0; i < tokens.size() && !m_error; ++i) {
        const TokenRecord &token = tokens[i];
        const Element element{"promptTokens", i};
        require(element, "id", token.id, 0, idLimit(m_record) - 1);
        require(element, "begin", token.begin, begin, textBytes);
        require(element, "end", token.end, std::max(end, token.begin), textBytes);
        if (m_error)
            return;
        begin = token.begin;
        end = token.end;
        const std::string_view source = std::string_view(m_record.promptText).substr(begin, end - begin);
        if (areBytes && !token.isSpecial && !areBytesOf(token.bytes, source))
            refuse(element.field("bytes"),
                   "is \"" + printableText(token.bytes) + "\", promptText has \"" + printableText(source) + "\" there");
    }
    // At least one prompt token is computed, whatever was reused.
    const int most = std::max(0, static_cast<int>(tokens.size()) - 1);
    if (m_record.reusedTokens > most)
        refuse("reusedTokens", "is " + std::to_string(m_record.reusedTokens) + ", expected 0 to " +
                                   std::to_string(most) + " of " + countOf(tokens.size(), "prompt token"));
}

void Checker::checkPhases()
{
    const std::vector<PhaseRecord> &phases = m_record.phases;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const Element element{"phases", i};
        if (phases[i].endNs < phases[i].beginNs)
            refuse(element.field("endNs"), "is " + std::to_string(phases[i].endNs) + ", before beginNs (" +
                                               std::to_string(phases[i].beginNs) + ")");
        if (std::any_of(phases.begin(), phases.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const PhaseRecord &other) { return other.phase == phases[i].phase; }))
            refuse(element.field("phase"), "is \"" + std::string(nameOf(phases[i].phase)) + "\" a second time");
        if (m_error)
            return;
    }
}

// Chunks join and follow each other in time.
void Checker::checkChunks()
{
    const int prompt = static_cast<int>(m_record.promptTokens.size());
    int next = m_record.reusedTokens;
    std::int64_t nowNs = 0;
    for (std::size_t i = 0; i < m_record.prefillChunks.size() && !m_error; ++i) {
        const PrefillChunkRecord &chunk = m_record.prefillChunks[i];
        const Element element{"prefillChunks", i};
        require(element, "from", chunk.from, next, next);
        require(element, "to", chunk.to, std::min(next + 1, prompt), prompt);
        if (chunk.beginNs < nowNs)
            refuse(element.field("beginNs"), "is " + std::to_string(chunk.beginNs) +
                                                 ", before the end of the chunk in front of it (" +
                                                 std::to_string(nowNs) + ")");
        if (chunk.endNs < chunk.beginNs)
            refuse(element.field("endNs"),
                   "is " + std::to_string(chunk.endNs) + ", before beginNs (" + std::to_string(chunk.beginNs) + ")");
        next = chunk.to;
        nowNs = chunk.endNs;
    }
    if (!m_record.outputTokens.empty() && next != prompt)
        refuse("prefillChunks", "end at token " + std::to_string(next) + " of " + std::to_string(prompt) +
                                    ", but there are output tokens");
}

void Checker::checkOutput()
{
    const std::vector<TokenRecord> &tokens = m_record.outputTokens;
    const std::size_t prompt = m_record.promptTokens.size();
    const bool isEnded = m_record.state == RunState::Finished || m_record.state == RunState::Failed;
    std::int64_t nowNs = 0;
    for (std::size_t i = 0; i < tokens.size() && !m_error; ++i) {
        const TokenRecord &token = tokens[i];
        const Element element{"outputTokens", i};
        require(element, "id", token.id, 0, idLimit(m_record) - 1);
        require(element, "rank", token.rank, 0, idLimit(m_record) - 1);
        if (token.timeNs < nowNs)
            refuse(element.field("timeNs"), "is " + std::to_string(token.timeNs) +
                                                ", before the token in front of it (" + std::to_string(nowNs) + ")");
        if (token.stepNs > token.timeNs)
            refuse(element.field("stepNs"), "is " + std::to_string(token.stepNs) +
                                                ", longer than the whole time until the token (" +
                                                std::to_string(token.timeNs) + ")");
        require<std::size_t>(element, "kvTokens", static_cast<std::size_t>(token.kvTokens), 0, prompt + i);
        nowNs = token.timeNs;
    }
    if (isEnded && m_record.endNs < nowNs)
        refuse("endNs",
               "is " + std::to_string(m_record.endNs) + ", before the last token (" + std::to_string(nowNs) + ")");
    if (!tokens.empty() && tokens.size() > static_cast<std::size_t>(std::max(0, m_record.request.maxTokens)))
        refuse("outputTokens", "are " + std::to_string(tokens.size()) + ", more than request.maxTokens (" +
                                   std::to_string(m_record.request.maxTokens) + ")");
}

// Texts are what the bytes spell, held back a while: broken characters replaced, a stop string cut off, without the
// space that SentencePiece puts in front. Whether a special token is text depends on the vocabulary, so only the texts
// before the first one are compared.
void Checker::checkOutputText()
{
    Utf8Gate gate;
    std::string spelt;
    std::string_view shown;
    std::string all;
    bool isWhole = true;
    bool isWithoutSpace = true;
    for (std::size_t i = 0; i < m_record.outputTokens.size() && !m_record.outputTokens[i].isSpecial; ++i) {
        const TokenRecord &token = m_record.outputTokens[i];
        spelt += gate.push(token.bytes);
        const std::size_t at = all.size();
        all += token.text;
        shown = std::string_view(all).substr(at);
        const auto matches = [&](std::size_t offset) {
            return spelt.size() >= offset + all.size() && spelt.compare(offset + at, shown.size(), shown) == 0;
        };
        isWhole = isWhole && matches(0);
        isWithoutSpace = isWithoutSpace && (token.text.empty() || (spelt.starts_with(' ') && matches(1)));
        if (isWhole || isWithoutSpace)
            continue;
        refuse(Element{"outputTokens", i}.field("text"),
               "is \"" + printableText(token.text) + "\", which is not what the bytes of the tokens spell");
        return;
    }
}

void Checker::checkKv()
{
    const std::size_t most = m_record.promptTokens.size() + m_record.outputTokens.size();
    std::int64_t nowNs = 0;
    for (std::size_t i = 0; i < m_record.kv.size() && !m_error; ++i) {
        const KvSample &sample = m_record.kv[i];
        const Element element{"kv", i};
        if (sample.timeNs < nowNs)
            refuse(element.field("timeNs"), "is " + std::to_string(sample.timeNs) +
                                                ", before the sample in front of it (" + std::to_string(nowNs) + ")");
        require<std::size_t>(element, "tokens", static_cast<std::size_t>(sample.tokens), 0, most);
        require<std::uint64_t>(element, "usedBytes", sample.usedBytes, 0, sample.allocatedBytes);
        nowNs = sample.timeNs;
    }
}

} // namespace

std::optional<Error> findContradiction(const RunRecord &record)
{
    return Checker(record).check();
}

int idLimit(const RunRecord &record)
{
    return record.model.vocabulary > 0 ? record.model.vocabulary : std::numeric_limits<TokenId>::max();
}

} // namespace lectern
