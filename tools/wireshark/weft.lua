-- Hello, Path frames and the tags of Tag-and-Forward for Wireshark and tshark (4.0 and later).
--
--   tshark -X lua_script:tools/wireshark/weft.lua -r capture.pcap -V
--
-- or copy the file into Wireshark's folder of personal Lua plugins (Help, About, Folders). Display filters:
-- weft.hello.tier == 2, weft.path.type == 1, weft.tag.down == 30. Where the EtherTypes are configured otherwise, say
-- so: -d ethertype==0x88b6,weft.tag (Decode As). What a switch refuses is marked with the counter of the reason
-- (signatures aside: they need the key). Format: docs/wire-format.md.

local ethertypes = DissectorTable.get("ethertype")

local no_yes = { [0] = "no", [1] = "yes" }
local known_types = { [0x0800] = "IPv4", [0x0806] = "ARP", [0x86dd] = "IPv6", [0x8100] = "VLAN", [0x88a8] = "VLAN" }

-- Says at `item` that a switch refuses the frame, and why; gives how many bytes were read.
local function refuse(item, expert, why, tvb, pinfo)
    item:add_proto_expert_info(expert, why)
    pinfo.cols.info = "refused: " .. why
    return tvb:len()
end

-- Gives what is carried from `offset` on to the dissector of its EtherType. Lua cannot pass on a length beyond what was
-- captured, without which IP would be malformed: zeros stand for the rest.
local function carry(ethertype, tvb, offset, pinfo, tree)
    local carried, missing = tvb(offset):tvb(), tvb:reported_len() - tvb:len()
    if missing > 0 then
        local bytes = tvb(offset):bytes()
        bytes:set_size(bytes:len() + missing)
        carried = bytes:tvb("Carried frame, with zeros for what was not captured")
    end
    if not ethertypes:try(ethertype, carried, pinfo, tree) then
        Dissector.get("data"):call(carried, pinfo, tree)
    end
end

-- Hello ---------------------------------------------------------------------------------------------------------

local nearest_bridge = "0180c200000e"
local all_stations = "ffffffffffff"
local eth_dst = Field.new("eth.dst")
local hello = Proto("weft.hello", "Weft Hello")
local h = {
    version = ProtoField.uint8("weft.hello.version", "Version"),
    flags = ProtoField.uint8("weft.hello.flags", "Flags", base.HEX),
    authenticated = ProtoField.uint8("weft.hello.authenticated", "Authenticated", base.DEC, no_yes, 0x01),
    echoes = ProtoField.uint8("weft.hello.echoes", "Echo present", base.DEC, no_yes, 0x02),
    blocked = ProtoField.uint8("weft.hello.blocked", "Blocked", base.DEC, no_yes, 0x02),
    hosts_only = ProtoField.uint8("weft.hello.hosts_only", "For hosts only", base.DEC, no_yes, 0x04),
    reaches = ProtoField.uint8("weft.hello.reaches", "Announcement present", base.DEC, no_yes, 0x04),
    numbered = ProtoField.uint8("weft.hello.numbered", "Number present", base.DEC, no_yes, 0x08),
    misses = ProtoField.uint8("weft.hello.misses", "Misses many", base.DEC, no_yes, 0x10),
    tier = ProtoField.uint8("weft.hello.tier", "Tier"),
    number = ProtoField.uint8("weft.hello.number", "Number"),
    hold = ProtoField.uint32("weft.hello.hold", "Hold time (ms)"),
    switch = ProtoField.uint64("weft.hello.switch", "Switch id", base.HEX),
    port = ProtoField.uint16("weft.hello.port", "Port number"),
    echo = ProtoField.uint16("weft.hello.echo", "Echo (0: hears nobody)", base.HEX),
    sequence = ProtoField.uint64("weft.hello.sequence", "Sequence"),
    signature = ProtoField.bytes("weft.hello.signature", "Signature"),
    first = ProtoField.ether("weft.hello.first", "Announcement from station"),
    last = ProtoField.ether("weft.hello.last", "Announcement to station"),
    ranges = ProtoField.uint16("weft.hello.ranges", "Ranges of stations not reached"),
    unreached_from = ProtoField.ether("weft.hello.unreached.from", "Not reached from"),
    unreached_to = ProtoField.ether("weft.hello.unreached.to", "Not reached to"),
}
local hello_refused = ProtoExpert.new("weft.hello.refused", "Refused", expert.group.PROTOCOL, expert.severity.ERROR)
hello.fields = h
hello.experts = { hello_refused }

-- Shows the announcement at `at`; gives the length of everything before and including it, or what it needs, and true if it is
-- all there.
local function show_announcement(top, tvb, at)
    if tvb:len() < at + 14 then
        return at + 14, false
    end
    local count = tvb(at + 12, 2):uint()
    local ends = at + 14 + 12 * count
    top:add(h.first, tvb(at, 6))
    top:add(h.last, tvb(at + 6, 6))
    local list = top:add(h.ranges, tvb(at + 12, 2))
    if tvb:len() < ends then
        return ends, false
    end
    for number = 0, count - 1 do
        list:add(h.unreached_from, tvb(at + 14 + 12 * number, 6))
        list:add(h.unreached_to, tvb(at + 20 + 12 * number, 6))
    end
    return ends, true
end

-- Adds what is behind the fields of a Hello or a probe: the signature, if there is one, and the announcement, with another one.
local function sign(top, signed, reaches, tvb, pinfo)
    local ends = signed and 44 or 28
    if tvb:len() < ends then
        return refuse(top, hello_refused, "short", tvb, pinfo)
    end
    if signed then
        top:add(h.signature, tvb(28, 16))
    end
    if reaches then
        local complete
        ends, complete = show_announcement(top, tvb, ends)
        if not complete or signed and tvb:len() < ends + 16 then
            return refuse(top, hello_refused, "short", tvb, pinfo)
        end
        if signed then
            top:add(h.signature, tvb(ends, 16))
            ends = ends + 16
        end
        pinfo.cols.info:append(string.format(", %d ranges not reached", tvb(signed and 56 or 40, 2):uint()))
    end
    top:set_len(ends)
    return tvb:len()
end

local function probe(top, signed, tvb, pinfo)
    pinfo.cols.protocol = "Weft probe"
    local flags = top:add(h.flags, tvb(1, 1))
    flags:add(h.authenticated, tvb(1, 1))
    flags:add(h.blocked, tvb(1, 1))
    flags:add(h.hosts_only, tvb(1, 1))
    top:add(h.switch, tvb(8, 8))
    top:add(h.port, tvb(16, 2))
    pinfo.cols.info = string.format(
        "Probe of %s, port %d%s%s",
        tostring(tvb(8, 8):bytes()):lower(), tvb(16, 2):uint(),
        tvb(1, 1):bitfield(6, 1) == 1 and ", blocked" or "", signed and ", signed" or ""
    )
    return sign(top, signed, false, tvb, pinfo)
end

function hello.dissector(tvb, pinfo, tree)
    pinfo.cols.protocol = "Weft Hello"
    local top = tree:add(hello, tvb(0))
    local to = eth_dst()
    local address = to and tostring(to.range:bytes()):lower()
    local is_probe = address == all_stations
    if address and address ~= nearest_bridge and not is_probe then
        return refuse(top, hello_refused, "destination", tvb, pinfo)
    end
    if tvb:len() < 28 then
        return refuse(top, hello_refused, "short", tvb, pinfo)
    end
    local version = top:add(h.version, tvb(0, 1))
    if tvb(0, 1):uint() ~= (is_probe and 2 or 1) then
        return refuse(version, hello_refused, "version", tvb, pinfo)
    end
    local signed = tvb(1, 1):bitfield(7, 1) == 1
    if is_probe then
        return probe(top, signed, tvb, pinfo)
    end
    local echoes = tvb(1, 1):bitfield(6, 1) == 1
    local reaches = tvb(1, 1):bitfield(5, 1) == 1
    local flags = top:add(h.flags, tvb(1, 1))
    flags:add(h.authenticated, tvb(1, 1))
    flags:add(h.echoes, tvb(1, 1))
    flags:add(h.reaches, tvb(1, 1))
    flags:add(h.numbered, tvb(1, 1))
    flags:add(h.misses, tvb(1, 1))
    top:add(h.tier, tvb(2, 1))
    if tvb(1, 1):bitfield(4, 1) == 1 then
        top:add(h.number, tvb(3, 1))
    end
    top:add(h.hold, tvb(4, 4))
    top:add(h.switch, tvb(8, 8))
    top:add(h.port, tvb(16, 2))
    if echoes then
        top:add(h.echo, tvb(18, 2))
    end
    top:add(h.sequence, tvb(20, 8))
    pinfo.cols.info = string.format(
        "Hello of %s, port %d, tier %d%s%s%s",
        tostring(tvb(8, 8):bytes()):lower(), tvb(16, 2):uint(), tvb(2, 1):uint(),
        echoes and tvb(18, 2):uint() == 0 and ", hears nobody" or "",
        tvb(1, 1):bitfield(3, 1) == 1 and ", misses many" or "", signed and ", signed" or ""
    )
    return sign(top, signed, reaches, tvb, pinfo)
end

-- Path frames ---------------------------------------------------------------------------------------------------

local path_types = {
    [1] = "Path Request",
    [2] = "Path Reply",
    [3] = "Path Fail",
    [4] = "Path Recovery Request",
    [5] = "Path Recovery Reply",
}
local path = Proto("weft.path", "Weft Path")
local p = {
    version = ProtoField.uint8("weft.path.version", "Version"),
    type = ProtoField.uint8("weft.path.type", "Type", base.DEC, path_types),
    hops = ProtoField.uint8("weft.path.hops", "Hop count"),
    flags = ProtoField.uint8("weft.path.flags", "Flags", base.HEX),
    id = ProtoField.uint32("weft.path.id", "Exploration id", base.HEX),
    destination = ProtoField.ether("weft.path.destination", "Original destination"),
    source_port = ProtoField.uint16("weft.path.source_port", "TCP source port"),
    destination_port = ProtoField.uint16("weft.path.destination_port", "TCP destination port"),
    original = ProtoField.uint16("weft.path.original", "Original EtherType", base.HEX, known_types),
}
local path_refused = ProtoExpert.new("weft.path.refused", "Refused", expert.group.PROTOCOL, expert.severity.ERROR)
path.fields = p
path.experts = { path_refused }

function path.dissector(tvb, pinfo, tree)
    pinfo.cols.protocol = "Weft Path"
    local top = tree:add(path, tvb(0, math.min(20, tvb:len())))
    if tvb:len() < 20 then
        return refuse(top, path_refused, "short", tvb, pinfo)
    end
    local version = top:add(p.version, tvb(0, 1))
    if tvb(0, 1):uint() ~= 1 then
        return refuse(version, path_refused, "version", tvb, pinfo)
    end
    local number = tvb(1, 1):uint()
    local name, carries = path_types[number], number == 1 or number == 2
    local kind = top:add(p.type, tvb(1, 1))
    if not name or carries and tvb(14, 4):uint() == 0 then
        return refuse(kind, path_refused, "type", tvb, pinfo)
    end
    top:add(p.hops, tvb(2, 1))
    top:add(p.flags, tvb(3, 1))
    top:add(p.id, tvb(4, 4))
    top:add(p.destination, tvb(8, 6))
    top:add(p.source_port, tvb(14, 2))
    top:add(p.destination_port, tvb(16, 2))
    local info = string.format(
        "%s 0x%08x after %d hops, %d > %s:%d",
        name, tvb(4, 4):uint(), tvb(2, 1):uint(), tvb(14, 2):uint(), tostring(tvb(8, 6):ether()), tvb(16, 2):uint()
    )
    if carries then
        top:add(p.original, tvb(18, 2))
        if tvb:len() > 20 then
            carry(tvb(18, 2):uint(), tvb, 20, pinfo, tree)
        end
    end
    pinfo.cols.info = info
    return tvb:len()
end

-- Tags of Tag-and-Forward ---------------------------------------------------------------------------------------

local tag = Proto("weft.tag", "Weft tag (Tag-and-Forward)")
local wide = Proto("weft.tag.wide", "Weft wide tag (Tag-and-Forward)")
local t = {
    qid = ProtoField.uint8("weft.tag.qid", "QID"),
    up = ProtoField.uint32("weft.tag.up", "UP"),
    down = ProtoField.uint32("weft.tag.down", "DOWN"),
    original = ProtoField.uint16("weft.tag.original", "Original EtherType", base.HEX, known_types),
}
local tag_refused = ProtoExpert.new("weft.tag.refused", "Refused", expert.group.PROTOCOL, expert.severity.ERROR)
tag.fields = t
tag.experts = { tag_refused }

-- A tag whose DOWN has so many bits.
local function dissect_tag(proto, down_bits, tvb, pinfo, tree)
    pinfo.cols.protocol = "Weft tag"
    local top = tree:add(proto, tvb(0, math.min(8, tvb:len())))
    if tvb:len() < 8 then
        return refuse(top, tag_refused, "short", tvb, pinfo)
    end
    local up_bits = 45 - down_bits
    local bits = tvb(0, 6)
    local up, down = bits:bitfield(3, up_bits), bits:bitfield(3 + up_bits, down_bits)
    top:add(t.qid, tvb(0, 1), bits:bitfield(0, 3))
    top:add(t.up, bits, up)
    top:add(t.down, bits, down)
    local inner = tvb(6, 2):uint()
    local original = top:add(t.original, tvb(6, 2))
    local info = string.format("Tag up %d down %d queue %d", up, down, bits:bitfield(0, 3))
    top:append_text(string.format(", up %d, down %d, queue %d", up, down, bits:bitfield(0, 3)))
    if up == 0 and down == 0 then
        return refuse(top, tag_refused, "missing", tvb, pinfo)
    end
    if inner == pinfo.match_uint then
        return refuse(original, tag_refused, "repeated", tvb, pinfo)
    end
    if tvb:len() > 8 then
        carry(inner, tvb, 8, pinfo, tree)
        info = info .. ": " .. tostring(pinfo.cols.info)
    end
    pinfo.cols.info = info
    return tvb:len()
end

function tag.dissector(tvb, pinfo, tree)
    return dissect_tag(tag, 13, tvb, pinfo, tree)
end

function wide.dissector(tvb, pinfo, tree)
    return dissect_tag(wide, 22, tvb, pinfo, tree)
end

for ethertype, proto in pairs({ [0xff70] = hello, [0xffaf] = path, [0xff1f] = tag, [0xff2f] = wide }) do
    ethertypes:add(ethertype, proto)
end
